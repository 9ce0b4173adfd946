import { answerWhole } from "../doubles/answer-whole.ts";

// Before any module of a test file is loaded: a function that streams asks for it then, and processes run many files.
answerWhole();

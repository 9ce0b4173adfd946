/** What the message of a change begins with whose row refused, by a trigger or a constraint, to be told that it succeeded. */
export const ROW_REFUSES = "ROW_REFUSES";

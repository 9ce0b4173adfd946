import { test } from "vitest";
import { byHttp } from "../support/clients/settings-client.ts";
import { fromNothingToRows } from "./from-nothing.ts";

test("from nothing to rows that travel both ways, by HTTP alone", () => fromNothingToRows(byHttp, "by_http"));

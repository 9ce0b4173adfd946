import { test } from "vitest";
import { byCommandLine } from "../support/clients/settings-client.ts";
import { fromNothingToRows } from "./from-nothing.ts";

test("from nothing to rows that travel both ways, by the command line alone", () =>
  fromNothingToRows(byCommandLine, "by_cli"));

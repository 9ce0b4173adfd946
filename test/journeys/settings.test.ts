import { byHttp } from "../support/clients/settings-client.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { fromNothingToRows } from "./from-nothing.ts";

longTest("from nothing to rows that travel both ways, by HTTP alone", () => fromNothingToRows(byHttp, "by_http"));

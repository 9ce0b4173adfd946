import { test } from "vitest";
import { createProvisioner } from "../../lib/adapters/postgres/schema/provision.ts";
import { herokuConnect } from "../../lib/heroku-connect/heroku-connect.ts";
import { startBreakingRelay } from "../support/doubles/breaking-relay.ts";
import { isWholeGrid } from "../support/run/whole-grid.ts";
import { mappingOf } from "../support/worlds/shapes.ts";
import { adopt, expectWholeHowever, SHAPE } from "./heroku-connect-broken-off.ts";

/** The gate cuts the connection before every seventh statement. */
const EVERY = isWholeGrid ? 1 : 7;

test("cut off from the database between any two statements, either Heroku Connect's triggers capture or ours, and what waits is imported once", () =>
  expectWholeHowever(async (nth, { url }) => {
    const relay = await startBreakingRelay(url);
    relay.breakBefore(nth, () => undefined);
    try {
      await adopt(relay.url);
      await createProvisioner({ url: relay.url, schema: SHAPE.schema }, () => new Date(), herokuConnect).provision(
        mappingOf(SHAPE),
        SHAPE,
      );
    } catch (error) {
      if (!relay.isBroken) throw error;
    } finally {
      await relay.close();
    }
    return relay.isBroken;
  }, EVERY));

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/run/temporary-folder.ts";
import { ask, start } from "./start-and-ask.ts";

describe("the embedded PostgreSQL, created again", () => {
  test("begins again when its creation was cut short", async () => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, "cluster.part", "base"), { recursive: true });

    const { url } = await start({ dataDir });

    expect(await ask(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("moves below /var/tmp when root starts it where only root may enter", {
    skip: process.getuid?.() !== 0,
  }, async () => {
    const closed = join(temporaryFolder(), "closed");
    mkdirSync(closed, { mode: 0o700 });
    const dataDir = join(closed, "postgres");
    const home = () => readFileSync(join(dataDir, "moved-to"), "utf8").trim();
    onTestFinished(() => rmSync(home(), { recursive: true }));

    const { url } = await start({ dataDir });

    expect(home()).toMatch(/^\/var\/tmp\/bridge-postgres-/);
    expect(await ask(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });
});

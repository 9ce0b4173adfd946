import { codeOf } from "./error-code.ts";

/** Each claim looks what it may send up in all that is held: a million takes PostgreSQL some ten seconds. */
const MANY_HELD = 200_000;

/** A statement took longer than it may, or made more than memory holds (PostgreSQL documentation, appendix A). */
const TOO_MUCH: ReadonlySet<string> = new Set(["57014", "54000"]);

/** A claim that PostgreSQL gave up, beside so many held deletes that it takes long to look past them. */
export class TooManyHeld extends Error {
  constructor(deletes: number, cause: unknown) {
    const since = `PostgreSQL gave up looking past so many (SQLSTATE ${codeOf(cause)})`;
    const remedy = "confirm or reject them (bridge mapping held-deletes)";
    super(`${deletes} deletes are held: ${remedy}; until then nothing of this mapping is sent, since ${since}`, {
      cause,
    });
    this.name = "TooManyHeld";
  }
}

/** What went wrong with a claim beside so many held deletes. */
export const claimTrouble = (error: unknown, deletes: number): unknown =>
  deletes >= MANY_HELD && TOO_MUCH.has(codeOf(error)) ? new TooManyHeld(deletes, error) : error;

import type { CycleFailure } from "../../model/engine.ts";

/** Why a cycle or a load goes no further, as an operator is shown it: a person acts first. */
export class EngineStop extends Error {
  readonly failure: CycleFailure;

  constructor(failure: CycleFailure) {
    super(failure.message);
    this.name = "EngineStop";
    this.failure = failure;
  }
}

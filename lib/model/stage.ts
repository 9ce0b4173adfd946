/**
 * A deployment's name, part of the name of each thing in it. Without a hyphen, for `a-b` and `c` would name the same as
 * `a` and `b-c`.
 */
export const STAGE_NAME = /^[a-z][a-z0-9]{0,19}$/;

export const STAGE_NAME_IN_WORDS = "at most 20 small letters and digits, a letter first";

/** All stages but those for development and for the drill keep what they have and are strict. */
export const hasProductionRules = (stage: string | undefined): boolean => stage !== "dev" && stage !== "drill";

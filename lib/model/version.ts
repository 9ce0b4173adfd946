/** The version that package.json names. */
export const VERSION = "0.3.1";

/**
 * Whether a text is one line that looks like what it is: without control characters, line breaks and tabs among them,
 * marks that turn the direction of what follows, and half characters.
 */
export const isOneLine = (text: string): boolean => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u.test(text);

/** What is wrong with any other. */
export const ONE_LINE = "must be one line, without control characters";

/** The frames of lib and functions in a stack, the innermost first, and the files that they are in. */
export interface Stack {
  readonly frames: readonly string[];
  readonly files: readonly string[];
}

/** Reads V8's text of a stack, with the functions that wait for the innermost ("at async"). */
export function framesOf(stack: string): Stack {
  const found = stack.split("\n").flatMap((line) => {
    const at = /^\s+at (?:async )?(?:(.*?) \()?(?:file:\/\/)?(\/.*?):\d+:\d+\)?$/.exec(line);
    const file = /\/((?:lib|functions)\/[^?]+\.ts)/.exec(at?.[2] ?? "")?.[1];
    return file === undefined ? [] : [{ name: at?.[1] ?? "(anonymous)", file }];
  });
  return {
    frames: found.map(({ name, file }) => `${name} ${file}`),
    files: [...new Set(found.map(({ file }) => file))],
  };
}

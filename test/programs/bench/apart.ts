import { fork } from "node:child_process";
import { once } from "node:events";

/** What a program answers to the arguments, in a process of its own that Node starts with these flags; its output is lost. */
export async function apart<Result>(
  program: string,
  args: readonly string[],
  flags: readonly string[] = [],
): Promise<Result> {
  const child = fork(program, args, { execArgv: [...flags], stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
  });
  const answered = once(child, "message").then(([message]) => message as Result);
  return Promise.race([answered, failed]);
}

/** Gives the process that started this one its answer, and ends this one. */
export function answer(result: object): void {
  process.send?.(result, undefined, undefined, () => process.exit());
}

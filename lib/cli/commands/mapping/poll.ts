import type { PollNowData, ReadCycleData } from "bridge/api";
import type { Api } from "../../api.ts";
import { type Context, isSet, segment, wholeNumber } from "../../context.ts";
import { CommandFailure } from "../../failure.ts";
import { namedMapping } from "../../find.ts";
import { count } from "../../words.ts";

/** The longest that the API holds an answer back. */
const WAIT_SECONDS = 20;

const TIMEOUT_SECONDS = 300;

/** Asks for a cycle, waits for its end and says what it did; a cycle that runs already is awaited first. */
export async function pollNow(context: Context): Promise<void> {
  const { out } = context;
  const { api, path, sf_object } = await namedMapping(context);
  const timeoutSeconds = wholeNumber(context, "timeout") ?? TIMEOUT_SECONDS;
  const until = performance.now() + timeoutSeconds * 1000;
  for (;;) {
    const { data, cycle: mark } = await api.post<PollNowData>(`${path}/poll-now`);
    if (mark === null || !isSet(context, "wait")) {
      out.done(data.message, data);
      if (!data.triggered) context.endAs("unwell");
      return;
    }
    out.progress(`${sf_object}: ${data.triggered ? "its cycle" : "a cycle that runs already, then its own"} …`);
    const cycle = await endOf(api, `${path}/cycles/${segment(mark)}`, until);
    out.progress("");
    if (cycle.state === "waiting" || (!data.triggered && performance.now() >= until))
      throw tooLong(sf_object, timeoutSeconds, data.triggered);
    if (!data.triggered) continue;
    out.done(`${sf_object}: ${wordsFor(cycle)}`, { ...data, cycle });
    if (cycle.error !== null) context.endAs("unwell");
    return;
  }
}

/** The cycle once it has ended, or as it is when the time is over. */
async function endOf(api: Api, path: string, until: number): Promise<ReadCycleData> {
  for (;;) {
    const left = Math.ceil((until - performance.now()) / 1000);
    const { data } = await api.get<ReadCycleData>(path, { wait: Math.min(WAIT_SECONDS, Math.max(0, left)) });
    if (data.state === "ended" || performance.now() >= until) return data;
  }
}

function tooLong(object: string, seconds: number, isOwn: boolean): CommandFailure {
  const which = isOwn ? `the cycle of ${object}` : `the cycle of ${object} that ran already`;
  const then = isOwn ? "It continues without this command" : "No other one was asked for";
  return new CommandFailure(
    "unwell",
    `${which} has not ended within ${seconds} s. ${then}; wait longer with --timeout, or see: bridge mapping show ${object}`,
  );
}

/** `2 changes sent, 1 refused, 3 records read, in 1.4 s.`; the error last, where there is one. */
function wordsFor({ asked_at, ended_at, pulled, accepted, refused, error }: ReadCycleData): string {
  const did =
    accepted === null
      ? []
      : [
          `${count(accepted, "change", "changes")} sent`,
          ...(refused ? [`${refused} refused (bridge errors)`] : []),
          `${count(pulled ?? 0, "record", "records")} read`,
        ];
  const seconds = asked_at && ended_at ? (Date.parse(ended_at) - Date.parse(asked_at)) / 1000 : null;
  const time = seconds === null ? "" : `, ${did.length === 0 ? "after" : "in"} ${seconds.toFixed(1)} s`;
  const end = error === null ? "." : `. It did not come to its end: ${error}`;
  return did.length === 0 ? `no cycle has run${time}: ${error}` : `${did.join(", ")}${time}${end}`;
}

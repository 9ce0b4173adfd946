/** Counts one more request of a source in a minute (since 1970) and gives how many there are, this one included. */
export type CountRequest = (source: string, minute: number) => number;

/** Counts in memory. A minute is forgotten when the next but one begins: requests of it may still be on their way. */
export function countRequests(): CountRequest {
  const minutes = new Map<number, Map<string, number>>();
  const begin = (minute: number): Map<string, number> => {
    for (const known of minutes.keys()) if (known < minute - 1) minutes.delete(known);
    const counts = new Map<string, number>();
    minutes.set(minute, counts);
    return counts;
  };
  return (source, minute) => {
    const counts = minutes.get(minute) ?? begin(minute);
    const requests = (counts.get(source) ?? 0) + 1;
    counts.set(source, requests);
    return requests;
  };
}

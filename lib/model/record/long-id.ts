/** By five bits, which say of five characters of an id, the first one lowest, whether they are capital letters. */
export const ENDINGS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345";

/** Salesforce's id of 18 characters, whose last three encode the case of the first fifteen. */
export function longId(id: string): string {
  if (id.length !== 15) return id;
  const ending = [0, 5, 10].map((at) => {
    const letters = [...id.slice(at, at + 5)];
    return ENDINGS[letters.reduce((sum, letter, place) => sum + (/[A-Z]/.test(letter) ? 2 ** place : 0), 0)];
  });
  return id + ending.join("");
}

/** What ids of 15 and of 18 characters of one record have in common. */
export const shortId = (id: string): string => id.slice(0, 15);

/** A number with what it counts: `1 row`, `2 rows`, `no rows`. */
export const count = (number: number, one: string, many: string): string =>
  number === 0 ? `no ${many}` : `${number} ${number === 1 ? one : many}`;

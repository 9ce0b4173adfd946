/** Why a change is held whose row has no record: the row was there before its mapping, or its record was never made. */
export const NO_RECORD = "NO_RECORD: Salesforce has no record of the row, which was never sent; push-existing sends it";

/** The operator's message about such changes, with the remedy. */
export const reportRecordless = (changes: number, sfObject: string) => ({
  message: `${changes} changes of rows that have no record in Salesforce are on hold`,
  remedy: `bridge mapping push-existing ${sfObject} sends such rows as they are`,
});

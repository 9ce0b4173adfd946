/** How the message of a change begins whose row refused the write-back, by a trigger or a constraint. */
export const ROW_REFUSES = "ROW_REFUSES";

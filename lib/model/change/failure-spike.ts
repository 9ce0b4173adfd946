/** So many FAILED rows in a single cycle are announced as `sync.failure_spike` (contract 6.1, 8). */
export const FAILURE_SPIKE_ROWS = 10;

/**
 * How AWS's own services are asked. Without limits its clients wait for a silent connection until the function is ended,
 * with all that it had begun; what answers at all answers within a second. A request that was given up is asked again,
 * like one whose connection broke.
 */
export const ASKING = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
} as const;

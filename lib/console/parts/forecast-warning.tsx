import { Notice } from "./trouble.tsx";
import { count } from "./words.ts";

/** More than the org allows, before anything has changed: it will run out of calls each day. */
export function ForecastWarning({ forecast, limit }: { readonly forecast: number; readonly limit: number }) {
  return (
    <Notice tone="warn" title="More than the org allows">
      The forecast of {count(forecast)} calls a day is above the org's {count(limit)}: pulls will be further apart than
      configured. Let mappings read less often, or raise the org's limit.
    </Notice>
  );
}

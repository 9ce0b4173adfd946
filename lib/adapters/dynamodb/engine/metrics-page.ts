import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { MetricsPages } from "../../../metrics/ports.ts";
import type { Database } from "../client/client.ts";
import { settingOf } from "../client/difference.ts";
import { readEach, readItem } from "../client/read-item.ts";
import { storedMilliseconds } from "../client/stored-time.ts";
import { isConditionFailed, updateIf } from "../client/transact.ts";

export const METRICS_PAGE = { pk: "service#metrics", sk: "page" };
const CLAIM = { pk: METRICS_PAGE.pk, sk: "claim" };

/** No page is claimed sooner after another, and one that died with its claim is replaced after this long. */
const CLAIMED_MILLISECONDS = 5_000;

/** A page of a clock that is so far ahead is replaced. */
const AHEAD_MILLISECONDS = 60_000;

/** An item takes 400 KB (DynamoDB, Service quotas); what 2,500 mappings with all series and 10,000 with four take is 370 KB. */
const MOST_BYTES = 390_000;

const page = z.object({ text: z.instanceof(Uint8Array), at: storedMilliseconds, mappings: z.number() });

/** The text as one item beside the counters, compressed; one that is too large is not kept. */
export function metricsPages(database: Database): MetricsPages {
  return {
    read: async () => {
      const item = await readItem(database, "counters", METRICS_PAGE);
      const [kept] = readEach(item ? [item] : [], (found) => {
        const { text, at, mappings } = page.parse(found);
        return { text: brotliDecompressSync(text).toString(), at, mappings };
      });
      return kept ?? null;
    },
    claim: async (at) => {
      const until = at.getTime() + CLAIMED_MILLISECONDS;
      const setting = settingOf({ until });
      const old = await updateIf(database, "counters", {
        ...{ Key: CLAIM, ...setting },
        ConditionExpression: "attribute_not_exists(pk) OR #until <= :at OR #until > :ahead",
        ExpressionAttributeValues: {
          ...setting.ExpressionAttributeValues,
          ...{ ":at": at.getTime(), ":ahead": until + AHEAD_MILLISECONDS },
        },
      });
      return old !== null;
    },
    keep: async ({ text, at, mappings }) => {
      // A mapping's id comes again in each of its series, which are megabytes apart.
      const params = {
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_LGWIN]: 24,
        [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
      };
      const Item = { ...METRICS_PAGE, text: brotliCompressSync(text, { params }), at: at.getTime(), mappings };
      if (Item.text.length > MOST_BYTES) return;
      const put = new PutCommand({
        ...{ TableName: database.table("counters"), Item, ExpressionAttributeNames: { "#at": "at" } },
        ConditionExpression: "attribute_not_exists(pk) OR #at < :at OR #at > :ahead",
        ExpressionAttributeValues: { ":at": Item.at, ":ahead": Item.at + AHEAD_MILLISECONDS },
      });
      await database.client.send(put).catch((error: unknown) => {
        if (!isConditionFailed(error)) throw error;
      });
    },
  };
}

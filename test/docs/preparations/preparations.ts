import { databases } from "./databases.ts";
import { orgs } from "./orgs.ts";
import { people } from "./people.ts";
import { programs } from "./programs.ts";
import { rows } from "./rows.ts";
import type { Preparations } from "./shared.ts";
import { webhooks } from "./webhooks.ts";

export const preparations: Preparations = {
  ...{ ...databases, ...orgs, ...people, ...programs, ...rows, ...webhooks },
};

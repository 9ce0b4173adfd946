import * as z from "zod/mini";
import { type ListedObject, listedObject, type OrgObject, orgObject } from "../../../config/org-ports.ts";
import { type Client, call } from "../client.ts";
import { asDescription } from "../exchange.ts";
import { understand } from "../understand.ts";

/** The objects that the connection's user sees (describeGlobal, Salesforce's REST API). */
export async function listObjects(client: Client): Promise<readonly ListedObject[]> {
  const { answer } = await call(client, { method: "GET", path: "/sobjects", reads: asDescription });
  return understand(global, answer, "a describe of all objects").sobjects;
}

/** One object with its fields (describeSObject). */
export async function describeObject(client: Client, name: string): Promise<OrgObject> {
  const path = `/sobjects/${encodeURIComponent(name)}/describe`;
  const { answer } = await call(client, { method: "GET", path, reads: asDescription });
  return understand(orgObject, answer, "a describe");
}

const global = z.object({ sobjects: z.array(listedObject) });

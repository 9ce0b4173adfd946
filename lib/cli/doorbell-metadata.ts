import type { Flow, Package, Workflow } from "@salesforce/types/metadata";

/** What an org needs to ring. */
export interface Ringing {
  /** The doorbell's URL. */
  readonly url: string;
  /** API names of the objects whose changes ring. */
  readonly objects: readonly string[];
  /** Username in whose name the org sends its messages. */
  readonly user: string;
  /** `66.0`. */
  readonly apiVersion: string;
}

/** One outbound message of each object has this name. */
const MESSAGE = "Bridge_Doorbell";

/** A flow's name takes letters, digits and single underscores, 80 at most. */
const flowName = (object: string): string => `${MESSAGE}_${object}`.replace(/_+/g, "_").slice(0, 80).replace(/_$/, "");

/**
 * What `sf project deploy start --metadata-dir` takes: the package, and for each object a flow that rings after each save
 * and the outbound message that it sends. Contents by path.
 */
export function doorbellFiles(ringing: Ringing): ReadonlyMap<string, string> {
  const { objects } = ringing;
  return new Map([
    ["package.xml", xmlOf("Package", packageOf(ringing))],
    ...objects.map(
      (object) => [`workflows/${object}.workflow`, xmlOf("Workflow", messageOf(ringing, object))] as const,
    ),
    ...objects.map((object) => [`flows/${flowName(object)}.flow`, xmlOf("Flow", flowOf(ringing, object))] as const),
  ]);
}

const packageOf = ({ objects, apiVersion }: Ringing): Partial<Package> => ({
  types: [
    { members: objects.map(flowName), name: "Flow" },
    { members: objects.map((object) => `${object}.${MESSAGE}`), name: "WorkflowOutboundMessage" },
  ],
  version: apiVersion,
});

const messageOf = ({ url, user, apiVersion }: Ringing, object: string): Partial<Workflow> => ({
  outboundMessages: [
    {
      fullName: MESSAGE,
      apiVersion: Number(apiVersion),
      description: "Says to Bridge that records have changed. It carries their ids, and no session.",
      endpointUrl: `${url}?object=${encodeURIComponent(object)}`,
      fields: ["Id"],
      includeSessionId: false,
      integrationUser: user,
      name: "Bridge Doorbell",
      protected: false,
      useDeadLetterQueue: false,
    },
  ],
});

type Part<Of> = {
  readonly [Key in keyof Of]?: Of[Key] extends readonly (infer One)[] ? readonly Part<One>[] : Part<Of[Key]>;
};

const flowOf = ({ apiVersion }: Ringing, object: string): Part<Flow> => ({
  actionCalls: [
    {
      name: "Ring",
      label: "Ring",
      locationX: 176,
      locationY: 323,
      actionName: `${object}.${MESSAGE}`,
      actionType: "outboundMessage",
      flowTransactionModel: "CurrentTransaction",
      inputParameters: [{ name: "SObjectRowId", value: { elementReference: "$Record.Id" } }],
      nameSegment: `${object}.${MESSAGE}`,
    },
  ],
  apiVersion: Number(apiVersion),
  description: `Rings Bridge's doorbell after each save of ${object}. It changes nothing and cannot fail a save.`,
  environments: ["Default"],
  interviewLabel: `Bridge Doorbell ${object} {!$Flow.CurrentDateTime}`,
  label: `Bridge Doorbell ${object}`,
  processType: "AutoLaunchedFlow",
  start: {
    locationX: 50,
    locationY: 0,
    connector: { targetReference: "Ring" },
    object,
    recordTriggerType: "CreateAndUpdate",
    triggerType: "RecordAfterSave",
  },
  status: "Active",
});

/** Metadata as the Metadata API writes it: a list is its element again and again. */
function xmlOf(root: string, content: object): string {
  const body = elements(content, "    ");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://soap.sforce.com/2006/04/metadata">\n${body}</${root}>\n`;
}

function elements(content: object, indent: string): string {
  return Object.entries(content)
    .flatMap(([name, value]) => [value].flat().map((one: unknown) => element(name, one, indent)))
    .join("");
}

function element(name: string, value: unknown, indent: string): string {
  if (typeof value !== "object" || value === null) return `${indent}<${name}>${escaped(String(value))}</${name}>\n`;
  return `${indent}<${name}>\n${elements(value, `${indent}    `)}${indent}</${name}>\n`;
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

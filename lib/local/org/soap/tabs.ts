import type { SObject } from "../metadata/sobject.ts";
import type { SoapCall } from "./soap-call.ts";
import { tag } from "./xml.ts";

/** `describeTabs()`: one app with a tab for every object. */
export function describeTabs({ parts, origin }: SoapCall): string {
  const tabs = parts.catalog.objects.map((object) => `<tabs>${tabXml(object, origin)}</tabs>`);
  return `<result>${tag("description", "All objects")}${tag("label", "Bridge")}${tag("logoUrl", `${origin}/img/logo.png`)}${tag("selected", true)}${tag("tabSetId", parts.identity.organizationId)}${tabs.join("")}</result>`;
}

function tabXml({ name, custom, labelPlural, keyPrefix }: SObject, origin: string): string {
  const image = (size: number) => `${origin}/img/icon/${name.toLowerCase()}${size}.png`;
  const icon = [
    tag("contentType", "image/png"),
    tag("height", 32),
    tag("theme", "theme3"),
    tag("url", image(32)),
    tag("width", 32),
  ].join("");
  return [
    tag("custom", custom),
    tag("iconUrl", image(32)),
    `<icons>${icon}</icons>`,
    tag("label", labelPlural),
    tag("miniIconUrl", image(16)),
    tag("name", `standard-${name}`),
    tag("sobjectName", name),
    tag("url", `${origin}/${keyPrefix}/o`),
  ].join("");
}

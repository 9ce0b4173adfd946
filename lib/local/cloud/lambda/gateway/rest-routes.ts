import type { Assembly } from "../template/assembly.ts";
import { resourcesOfType } from "../template/functions.ts";
import type { Resolve } from "../template/resolve.ts";

/** One method of the REST API and its integration. */
export interface RestMethod {
  readonly resourceId: string;
  /** The resource as the template writes it: `/api/v1/t/{workspace_id}/mappings`. */
  readonly resourcePath: string;
  /** A method, or ANY. */
  readonly httpMethod: string;
  readonly functionArn: string;
  readonly streams: boolean;
  readonly timeoutMilliseconds: number;
}

/** The REST API of the templates. */
export interface RestApi {
  readonly id: string;
  readonly stageName: string;
  readonly binaryMediaTypes: readonly string[];
  readonly methods: readonly RestMethod[];
  readonly gatewayResponses: ReadonlyMap<string, GatewayResponse>;
}

/** The gateway's own answers. */
export interface GatewayResponse {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly template: string;
}

interface MethodProperties {
  readonly ResourceId: string;
  readonly HttpMethod: string;
  readonly Integration: {
    readonly Uri: string;
    readonly ResponseTransferMode?: string;
    readonly TimeoutInMillis?: number;
  };
}

interface GatewayResponseProperties {
  readonly ResponseType: string;
  readonly StatusCode?: string;
  readonly ResponseParameters?: Readonly<Record<string, string>>;
  readonly ResponseTemplates?: Readonly<Record<string, string>>;
}

const DEFAULT_TIMEOUT_MILLISECONDS = 29_000;

/** Reads the REST API; null when the templates define none. Throws when they define several. */
export function readRestApi(assembly: Assembly, resolve: Resolve): RestApi | null {
  const ofType = <Properties>(type: string) =>
    resourcesOfType<Properties>(assembly, resolve, `AWS::ApiGateway::${type}`);
  const [api, another] = ofType<{ BinaryMediaTypes?: string[] }>("RestApi");
  if (!api) return null;
  if (another) throw new Error(`the local host serves one REST API, but there are ${api.id} and ${another.id}`);
  const paths = new Map(
    ofType<{ ParentId: string; PathPart: string }>("Resource").map(({ id, properties }) => [id, properties] as const),
  );
  const pathOf = (id: string): string => {
    const resource = paths.get(id);
    return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : "";
  };
  return {
    id: api.id,
    stageName: ofType<{ StageName: string }>("Stage")[0]?.properties.StageName ?? "",
    binaryMediaTypes: api.properties.BinaryMediaTypes ?? [],
    methods: ofType<MethodProperties>("Method").map(({ properties }) => ({
      resourceId: properties.ResourceId,
      resourcePath: pathOf(properties.ResourceId) || "/",
      httpMethod: properties.HttpMethod,
      functionArn: /functions\/(arn:[^/]+)\//.exec(properties.Integration.Uri)?.[1] ?? "",
      streams: properties.Integration.ResponseTransferMode === "STREAM",
      timeoutMilliseconds: properties.Integration.TimeoutInMillis ?? DEFAULT_TIMEOUT_MILLISECONDS,
    })),
    gatewayResponses: new Map(
      ofType<GatewayResponseProperties>("GatewayResponse").map(({ properties }) => [
        properties.ResponseType,
        gatewayResponseOf(properties),
      ]),
    ),
  };
}

function gatewayResponseOf(properties: GatewayResponseProperties): GatewayResponse {
  const headers = Object.entries(properties.ResponseParameters ?? {}).map(([name, value]) => [
    name.replace("gatewayresponse.header.", ""),
    value.replace(/^'|'$/g, ""), // the gateway's way to write a fixed value
  ]);
  return {
    status: properties.StatusCode === undefined ? null : Number(properties.StatusCode),
    headers: Object.fromEntries(headers) as Record<string, string>,
    template: properties.ResponseTemplates?.["application/json"] ?? `{"message":$context.error.messageString}`,
  };
}

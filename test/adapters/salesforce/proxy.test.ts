import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { listenForTest } from "../listen.ts";

test("with the variables of -c httpsProxy= an org is reached by the proxy, which resolves its name", async () => {
  const asked: string[] = [];
  const proxy = createServer().on("connect", ({ url = "" }, socket) => {
    asked.push(url);
    socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  });
  const port = await listenForTest(proxy);
  const client = join(import.meta.dirname, "../../../lib/adapters/salesforce/guarded-fetch.ts");
  const program = `
    const { guardedFetch } = await import(${JSON.stringify(client)});
    const answer = await guardedFetch("https://acme.my.salesforce.com/services/data", {}).catch((error) => error.message);
    console.log(answer);`;
  const env = {
    ...process.env,
    NODE_USE_ENV_PROXY: "1",
    HTTPS_PROXY: `http://127.0.0.1:${port}`,
    NO_PROXY: "",
    no_proxy: "",
  };

  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { env });

  expect(asked).toEqual(["acme.my.salesforce.com:443"]);
  expect(stdout.trim()).toBe("fetch failed");
});

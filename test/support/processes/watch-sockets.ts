import { appendFileSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { Socket } from "node:net";

/**
 * Loaded before everything else of a process and its workers (`NODE_OPTIONS=--import`): writes down the host of each
 * connection that is created and each name that is looked up, a line each, in the file that WATCHED_SOCKETS names.
 */
const file = process.env["WATCHED_SOCKETS"] ?? "";
const note = (host: string) => appendFileSync(file, `${host}\n`);

/** Modules as others get them, so that what is changed here is changed for all. */
const builtin = createRequire(import.meta.url);
const net: { Socket: { prototype: { connect: unknown } } } = builtin("node:net");
type Asking = Record<string, (name: string, ...more: unknown[]) => unknown>;
const dns: { lookup: unknown; Resolver: { prototype: Asking }; promises: { Resolver: { prototype: Asking } } } =
  builtin("node:dns");
const dgram: { Socket: { prototype: { send: unknown } } } = builtin("node:dgram");

const connect = net.Socket.prototype.connect as (...args: unknown[]) => Socket;
net.Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  const [given, host] = Array.isArray(args[0]) ? args[0] : args;
  const to = typeof given === "object" && given !== null ? (given as { host?: string; path?: string }) : null;
  note(to ? (to.path ?? to.host ?? "localhost") : typeof host === "string" ? host : "localhost");
  return connect.apply(this, args);
};

const lookup = dns.lookup as (host: string, ...more: unknown[]) => unknown;
dns.lookup = (host: string, ...more: unknown[]) => {
  note(host);
  return lookup(host, ...more);
};

// These send their datagrams on their own.
for (const { prototype } of [dns.Resolver, dns.promises.Resolver])
  for (const [name, ask] of Object.entries(prototype).filter(([one]) => /^(resolve|reverse)/.test(one)))
    prototype[name] = function (this: unknown, host: string, ...more: unknown[]) {
      note(host);
      return ask.call(this, host, ...more);
    };

const send = dgram.Socket.prototype.send as (...args: unknown[]) => unknown;
dgram.Socket.prototype.send = function (...args: unknown[]) {
  note(`datagram to ${args.find((arg, at) => at > 0 && typeof arg === "string")}`);
  return send.apply(this, args);
};

syncBuiltinESMExports();

import type { Command } from "commander";
import type { Does } from "../context.ts";
import { watchOption } from "../watch.ts";

const commands = () => import("../commands/webhooks.ts");

/** `bridge webhook …`. */
export function addWebhookCommands(program: Command, does: Does): void {
  const webhook = program.command("webhook").description("send events to your own endpoints by HTTP");
  webhook
    .command("list")
    .description("all webhooks")
    .addOption(watchOption())
    .action(does(async () => (await commands()).listWebhooks));
  webhook
    .command("show <webhook>")
    .description("one webhook; never its secret")
    .action(does(async () => (await commands()).showWebhook));
  webhook
    .command("create <url>")
    .description("register a URL; its signing secret is shown once")
    .option("--events <types...>", "event types (default: all but deletes.held)")
    .action(does(async () => (await commands()).createWebhook));
  webhook
    .command("update <webhook>")
    .description("change the given settings only")
    .option("--target <url>", "another URL")
    .option("--events <types...>", "event types")
    .option("--pause", "stop its deliveries")
    .option("--resume", "continue its deliveries")
    .action(does(async () => (await commands()).updateWebhook));
  webhook
    .command("delete <webhook>")
    .description("delete it")
    .option("-y, --yes", "do not ask")
    .action(does(async () => (await commands()).deleteWebhook));
  webhook
    .command("rotate <webhook>")
    .description("create a new secret; the old one also signs for some hours")
    .option("--overlap <hours>", "hours that the old secret signs, 0 to 168 (default: 24)")
    .action(does(async () => (await commands()).rotateSecret));
  webhook
    .command("test <webhook>")
    .description("send it a test event")
    .option("--event <type>", "of this type (default: the first that it receives)")
    .action(does(async () => (await commands()).testWebhook));
  webhook
    .command("deliveries <webhook>")
    .description("its deliveries, newest first")
    .option("--limit <rows>", "most entries to show")
    .option("--offset <rows>", "entries to skip")
    .addOption(watchOption())
    .action(does(async () => (await commands()).listDeliveries));
  webhook
    .command("delivery <webhook> <delivery>")
    .description("one delivery: its request, and every attempt with its answer")
    .action(does(async () => (await commands()).showDelivery));
  webhook
    .command("retry <webhook> <delivery>")
    .description("send a delivery again, even a successful one")
    .action(does(async () => (await commands()).retryDelivery));
  webhook
    .command("replay <webhook>")
    .description(
      "send the deliveries again that it has missed since a time: those given up, or due while it was paused",
    )
    .requiredOption("--since <time>", "such as 2026-01-31T08:00:00Z, or a day")
    .action(does(async () => (await commands()).replayWebhook));
  webhook
    .command("listen <webhook>")
    .description("send its new deliveries to this machine as well, signed, until Ctrl-C")
    .requiredOption("--forward <url>", "where to: an address, or a port of this machine")
    .option("--events <types...>", "only these event types")
    .option("--secret-file <file>", "its signing secret; - is standard input (default: one is created and shown)")
    .action(does(async () => (await import("../commands/webhook-listen.ts")).listen));
  webhook
    .command("trigger <event> [webhook]")
    .description("send a sample event to one webhook, or to all that receive its type")
    .action(does(async () => (await import("../commands/webhook-listen.ts")).trigger));
}

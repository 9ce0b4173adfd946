/** Lines that can be typed nearly as they are, by the command whose help shows them. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "": [
    "bridge login https://bridge.example.com --workspace ws_1",
    "bridge mapping create Contact --fields LastName,Email",
    "bridge activity --follow",
    "bridge doctor",
  ],
  login: [
    "bridge login https://bridge.example.com --workspace ws_1",
    "bridge login --token-file token.txt --name prod",
  ],
  logout: ["bridge logout", "bridge logout prod"],
  whoami: ["bridge whoami", "bridge whoami --profile local --json"],
  "workspace create": ['bridge workspace create "Acme" --owner ada@example.com --login'],
  "workspace show": ["bridge workspace show"],
  "workspace rename": ['bridge workspace rename "Acme Ltd"'],
  "workspace list": ["bridge workspace list", "bridge workspace list --all --stage prod"],
  "workspace delete": ["bridge workspace delete ws_1 --stage prod --by ada@example.com"],
  doctor: ["bridge doctor", "bridge doctor --watch 30 --json"],
  org: ["bridge org --port 8080", "bridge org --latency 1,30 --controls"],
  open: ["bridge open", "bridge open Contact", "bridge open errors --print"],
  "connect postgres": [
    "bridge connect postgres",
    "bridge connect postgres --url-file url.txt --schema salesforce --test",
  ],
  "connect salesforce": [
    "bridge connect salesforce --client-id 3MVG9",
    "bridge connect salesforce --flow client-credentials --login-url https://acme.my.salesforce.com --client-id 3MVG9 --client-secret-file secret.txt",
    "bridge connect salesforce --test",
  ],
  connections: ["bridge connections"],
  "schema exclude": ['eval "pg_dump $(bridge schema exclude) app"'],
  "schema detach": ['psql copy -c "$(bridge schema detach)"'],
  "schema changes": ["bridge schema changes propose"],
  "schema propose": ["bridge schema propose > migration.sql", "bridge schema propose --drizzle drizzle"],
  "schema connections": ["bridge schema connections 5"],
  "schema retention": [
    "bridge schema retention",
    "bridge schema retention --log-days 14 --autovacuum vacuum_scale_factor=0.02",
  ],
  objects: ["bridge objects --search invoice", "bridge objects Contact --parents"],
  "mapping list": ["bridge mapping list", "bridge mapping list --watch", "bridge mapping list --deleted"],
  "mapping show": ["bridge mapping show Contact", "bridge mapping show Contact --wait"],
  "mapping create": [
    "bridge mapping create Contact --fields LastName,Email --upsert-field Ref__c",
    "bridge mapping create Account --fields Name --direction sf_to_pg --interval 60",
    "bridge mapping create Account --fields Name --filter \"Type = 'Customer'\"",
  ],
  "mapping update": [
    "bridge mapping update Contact --add-field Phone",
    "bridge mapping update Contact --interval 60 --policy postgres_wins",
  ],
  "mapping activate": ["bridge mapping activate Contact", "bridge mapping activate Contact --digest 4f1c2a"],
  "mapping deactivate": ["bridge mapping deactivate Contact"],
  "mapping reload": ["bridge mapping reload Contact"],
  "mapping restore": ["bridge mapping restore Contact"],
  "mapping dry-run": ["bridge mapping dry-run Contact"],
  "mapping capture": ["bridge mapping capture Contact --salesforce", "bridge mapping capture Contact --mine --yes"],
  "mapping push-existing": ["bridge mapping push-existing Contact"],
  "mapping held-deletes": ["bridge mapping held-deletes Contact --limit 50"],
  "mapping confirm-deletes": [
    "bridge mapping confirm-deletes Contact",
    "bridge mapping confirm-deletes Contact --only record:7,record:8",
  ],
  "mapping reject-deletes": [
    "bridge mapping reject-deletes Contact",
    "bridge mapping reject-deletes Contact --recreate --yes",
  ],
  "mapping delete": ["bridge mapping delete Contact"],
  poll: ["bridge poll Contact"],
  abort: ["bridge abort Contact"],
  "config export": ["bridge config export mappings.json", "bridge config export --profile prod"],
  "config plan": ["bridge config plan mappings.json"],
  "config import": ["bridge config import mappings.json", "bridge config import - --dry-run < mappings.json"],
  "config baseline": ["bridge config baseline"],
  "config drift": ["bridge config drift"],
  "migrate heroku-connect": ["bridge migrate heroku-connect export.json --dry-run"],
  health: ["bridge health", "bridge health --watch"],
  activity: ["bridge activity --state FAILED --table contact", "bridge activity --follow --json"],
  errors: [
    "bridge errors --grouped",
    "bridge errors --retry 4711",
    "bridge errors --retry --fingerprint 0123456789abcdef --yes",
  ],
  "inbound-errors": ["bridge inbound-errors --mapping Contact"],
  conflicts: ["bridge conflicts --mapping Contact --limit 20"],
  budget: ["bridge budget", "bridge budget --watch 60"],
  audit: ["bridge audit --actor ada@example.com", "bridge audit --action mapping.created --csv > audit.csv"],
  "webhook list": ["bridge webhook list"],
  "webhook show": ["bridge webhook show whk_1"],
  "webhook create": ["bridge webhook create https://example.com/hook --events record.failed sync.broken"],
  "webhook update": [
    "bridge webhook update whk_1 --target https://example.com/other",
    "bridge webhook update whk_1 --pause",
  ],
  "webhook delete": ["bridge webhook delete whk_1 --yes"],
  "webhook rotate": ["bridge webhook rotate whk_1"],
  "webhook test": ["bridge webhook test whk_1"],
  "webhook deliveries": ["bridge webhook deliveries whk_1 --limit 20"],
  "webhook delivery": ["bridge webhook delivery whk_1 dlv_1"],
  "webhook retry": ["bridge webhook retry whk_1 dlv_1"],
  "webhook listen": [
    "bridge webhook listen whk_1 --forward 3000",
    "bridge webhook listen whk_1 --forward http://localhost:3000/hook --secret-file secret.txt",
  ],
  "webhook trigger": ["bridge webhook trigger record.failed", "bridge webhook trigger sync.broken whk_1"],
  "token list": ["bridge token list"],
  "token create": ["bridge token create ci --owner ada@example.com --scope operate --days 90"],
  "token rotate": ["bridge token rotate ci --overlap 48"],
  "token revoke": ["bridge token revoke ci"],
  sql: ['bridge sql "SELECT * FROM salesforce.contact LIMIT 5"'],
  soql: ['bridge soql "SELECT Id, LastName FROM Contact LIMIT 5"'],
  complete: ["bridge complete -- mapping sh"],
  completion: [
    "source <(bridge completion bash)    # in ~/.bashrc",
    "source <(bridge completion zsh)     # in ~/.zshrc, below compinit",
    "bridge completion fish > ~/.config/fish/completions/bridge.fish",
  ],
};

/** Examples that the help of a group of commands shows, of those that its commands show. */
const OF_A_GROUP = 5;

/** Examples of a command by its words, `mapping list`; of a group, one for each of the first of its commands. */
export function examplesOf(words: string): readonly string[] {
  const within = Object.entries(EXAMPLES).filter(([name]) => name.startsWith(`${words} `));
  return EXAMPLES[words] ?? within.flatMap(([, examples]) => examples.slice(0, 1)).slice(0, OF_A_GROUP);
}

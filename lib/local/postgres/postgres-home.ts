import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isReachableByAll, postgresUser } from "./programs.ts";

const POINTER = "moved-to";

/**
 * The folder that PostgreSQL really uses for a data folder. When root starts it below a folder that only root may enter
 * (such as /root), PostgreSQL, which must not be root, could not reach its own data: then it is a folder of /var/tmp,
 * which a restart of the machine leaves alone (Filesystem Hierarchy Standard 5.15), as it does not everywhere the folder
 * that `tmpdir()` names. The file `moved-to` in the data folder says which.
 */
export function postgresHome(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: postgresUser() ? 0o711 : 0o700 });
  if (!postgresUser()) return realpathSync(dataDir);
  chmodSync(dataDir, 0o711);
  const real = realpathSync(dataDir);
  if (isReachableByAll(dirname(real))) return real;
  const pointer = join(dataDir, POINTER);
  if (existsSync(pointer)) return readFileSync(pointer, "utf8").trim();
  const home = mkdtempSync("/var/tmp/bridge-postgres-");
  chmodSync(home, 0o711);
  writeFileSync(pointer, `${home}\n`);
  return home;
}

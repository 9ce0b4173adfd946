// Says what to do when npm fell back to a Node that cannot run this project. Plain JavaScript, because an older Node
// must be able to read it: such a Node fails on the first TypeScript file with words that do not help.

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major !== 24 || minor < 15) {
  console.error(
    [
      `Bridge needs Node 24.15 or a later 24, and this is Node ${process.versions.node} (${process.execPath}).`,
      "",
      "The right one comes with the dependencies: run `npm install` (with optional dependencies, not `npm ci`),",
      "then use npm's scripts, which find it: `npm start`, `npm test`, `npm run check`.",
    ].join("\n"),
  );
  process.exit(1);
}

import { Download, FileJson } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Code } from "../../parts/code.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Bones, Card, Empty } from "../../parts/page.tsx";
import { save } from "../../parts/save.ts";
import { Trouble } from "../../parts/trouble.tsx";
import { counted } from "../../parts/words.ts";
import { hrefOf } from "../../route.ts";
import { ConfigurationFrame } from "./configuration-frame.tsx";

/** The configuration as it is now. */
export function Exported() {
  const { data, error, refetch } = useAnswer(questions.exportedConfig);
  const text = data && `${JSON.stringify(data.data, null, 2)}\n`;
  return (
    <ConfigurationFrame>
      {error && !data && <Trouble error={error} again={() => void refetch()} />}
      {!data && !error && (
        <Card padded={false}>
          <Bones lines={8} />
        </Card>
      )}
      {data && data.data.mappings.length === 0 && (
        <Card padded={false}>
          <Empty
            icon={<FileJson size={24} aria-hidden />}
            title="Nothing to export yet"
            acts={
              <>
                <a className="button primary" href={hrefOf("/mappings/new")}>
                  New mapping
                </a>
                <a className="button" href={hrefOf("/configuration/import")}>
                  Import
                </a>
              </>
            }
          >
            Make a mapping, or import a document: one of Bridge or of Heroku Connect.
          </Empty>
        </Card>
      )}
      {data && text && data.data.mappings.length > 0 && (
        <Card
          title={counted(data.data.mappings.length, "mapping")}
          acts={
            <>
              <Copy text={text} name="configuration" />
              <Button
                compact
                icon={<Download size={15} aria-hidden />}
                onClick={() => save(new Blob([text], { type: "application/json" }), "bridge-config.json")}
              >
                Download
              </Button>
            </>
          }
        >
          <Code text={text.trimEnd()} label="Configuration" />
        </Card>
      )}
    </ConfigurationFrame>
  );
}

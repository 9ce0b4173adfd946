import type { ReadWebhookSuccessData } from "bridge/api";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { clock, count } from "../../parts/words.ts";

const DAY_MINUTES = 24 * 60;

/** How the deliveries of the last day went. */
export function Success({ webhookId }: { readonly webhookId: string }) {
  const { data } = useAnswer(questions.webhookSuccess(webhookId, DAY_MINUTES), { everySeconds: 15 });
  const success = data?.data;
  const settled = success ? success.successful + success.failed : 0;
  return (
    <dl className="figures">
      <div>
        <dt>Successful in 24 h</dt>
        <dd className="figure">{success && settled > 0 ? `${percent(success.successful / settled)} %` : "–"}</dd>
      </div>
      <div>
        <dt>Delivered in 24 h</dt>
        <dd className="figure">{success ? count(success.successful) : "–"}</dd>
      </div>
      <div>
        <dt>Failed in 24 h</dt>
        <dd className="figure">{success ? count(success.failed) : "–"}</dd>
      </div>
      <div>
        <dt>On their way</dt>
        <dd className="figure">{success ? count(success.pending) : "–"}</dd>
      </div>
      <div className="broad">
        <dt>{success?.cut ? "The latest 500 deliveries" : "The last 24 hours"}</dt>
        <dd>{success && <Steps success={success} />}</dd>
      </div>
    </dl>
  );
}

/** Never 100 while one has failed. */
const percent = (share: number): string => (Math.floor(share * 1000) / 10).toFixed(share === 1 ? 0 : 1);

/** Each step as a mark: something failed, all went through, or there was nothing. */
function Steps({ success }: { readonly success: ReadWebhookSuccessData }) {
  const first = Date.parse(success.from);
  const step = success.step_seconds * 1000;
  const marks = Array.from({ length: Math.floor((Date.parse(success.to) - first) / step) + 1 }, (_, index) => {
    const at = first + index * step;
    return { at, found: success.steps.find((one) => Date.parse(one.at) === at) };
  });
  return (
    <span className="strip slim" role="img" aria-label={`${success.successful} delivered, ${success.failed} failed`}>
      {marks.map(({ at, found }) => (
        <i
          key={at}
          className={found?.failed ? "bad" : found?.successful ? "good" : "none"}
          title={`${clock(new Date(at))}: ${found?.successful ?? 0} delivered, ${found?.failed ?? 0} failed`}
        />
      ))}
    </span>
  );
}

import type { JSX } from "preact";
import type { ConsumerView } from "../../../src/dashboard/wire.ts";
import { Icon } from "./icon.tsx";
import { Empty } from "./notice.tsx";
import { Sentence } from "./sentence.tsx";
import { TableScroll } from "./table-scroll.tsx";
import type { StateWords } from "./words.ts";

type Rollout = NonNullable<ConsumerView["rollout"]>;

/** What stays behind until somebody does something looks like no work in progress. */
const STANDINGS: Readonly<Record<NonNullable<ConsumerView["standing"]>, Pick<StateWords, "shape" | "tone">>> = {
  moved: { shape: "ok", tone: "calm" },
  moving: { shape: "turning", tone: "busy" },
  waiting: { shape: "paused", tone: "still" },
  behind: { shape: "trouble", tone: "trouble" },
};

/** Who uses a Secret, in the columns of `keyturn consumers`; all of them are in one namespace. */
export function ConsumerTable({ consumers }: { consumers: readonly ConsumerView[] }): JSX.Element {
  if (consumers.length === 0) return <Empty>Nobody that can be seen uses it.</Empty>;
  return (
    <TableScroll label="Consumers, as a table">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">Workload</th>
            <th scope="col">Uses</th>
            <th scope="col">Opted in</th>
            <th scope="col">Runs on</th>
            <th scope="col">Rollout</th>
            <th scope="col">On a change</th>
          </tr>
        </thead>
        <tbody>
          {consumers.map((consumer) => (
            <ConsumerLine key={`${consumer.kind} ${consumer.namespace} ${consumer.name}`} consumer={consumer} />
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

function ConsumerLine({ consumer }: { consumer: ConsumerView }): JSX.Element {
  const { kind, name, uses, runsOn, standing, hasOptedIn, rollout, change } = consumer;
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi> <span class="kind">{kind}</span>
      </th>
      <td data-label="Uses">{uses}</td>
      <td data-label="Opted in">{hasOptedIn === undefined ? "unknown" : hasOptedIn ? "yes" : "no"}</td>
      <td data-label="Runs on">
        {standing === undefined ? (
          <span class="faint">{runsOn}</span>
        ) : (
          <span class={`state wraps tone-${STANDINGS[standing].tone}`}>
            <Icon shape={STANDINGS[standing].shape} />
            <span>{runsOn}</span>
          </span>
        )}
      </td>
      <td data-label="Rollout">{rollout ? <RolloutState rollout={rollout} name={name} /> : <None />}</td>
      <td data-label="On a change">{change}</td>
    </tr>
  );
}

const None = (): JSX.Element => <span class="faint">-</span>;

/** A bar only while there is something to wait for. */
function RolloutState({ rollout, name }: { rollout: Rollout; name: string }): JSX.Element {
  const { updated, total, isComplete, words } = rollout;
  if (isComplete) {
    return (
      <span class="faint">
        <Sentence text={words} />
      </span>
    );
  }
  return (
    <span class="rollout">
      <progress value={updated} max={Math.max(1, total)} aria-label={`Rollout of ${name}`} />
      <Sentence text={words} />
    </span>
  );
}

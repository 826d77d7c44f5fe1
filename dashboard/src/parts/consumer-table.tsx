import type { JSX } from "preact";
import type { ConsumerView } from "../../../src/dashboard/wire.ts";
import { Icon } from "./icon.tsx";
import { Empty } from "./notice.tsx";
import { TableScroll } from "./table-scroll.tsx";

/** Who uses a Secret, in the columns of `keyturn consumers`. */
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
            <th scope="col">A change would</th>
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
  const { kind, namespace, name, uses, runsOn, hasMoved, hasOptedIn, rollout, change } = consumer;
  return (
    <tr>
      <th scope="row">
        <span class="kind">{kind}</span>{" "}
        <bdi>
          <span class="faint">{namespace}/</span>
          {name}
        </bdi>
      </th>
      <td data-label="Uses">{uses}</td>
      <td data-label="Opted in">{hasOptedIn === undefined ? "unknown" : hasOptedIn ? "yes" : "no"}</td>
      <td data-label="Runs on">
        <span>
          {hasMoved === undefined ? null : (
            <span class={`state tone-${hasMoved ? "calm" : "busy"}`}>
              <Icon shape={hasMoved ? "ok" : "turning"} />
              {hasMoved ? "moved" : "not moved"}
            </span>
          )}
          <span class="faint">
            {hasMoved === undefined ? "" : " · "}
            {runsOn}
          </span>
        </span>
      </td>
      <td data-label="Rollout">
        {rollout ? (
          <span class="rollout">
            <progress value={rollout.updated} max={Math.max(1, rollout.total)} aria-label={`Rollout of ${name}`} />
            <span>{rollout.words}</span>
          </span>
        ) : (
          <span class="faint">-</span>
        )}
      </td>
      <td data-label="A change would">{change}</td>
    </tr>
  );
}

import type { JSX } from "preact";
import type { Row } from "../../../src/dashboard/wire.ts";
import { useRetirement } from "../app/hooks.ts";
import { Icon } from "./icon.tsx";
import { stateOf } from "./words.ts";

export function StateMark({ row }: { row: Row }): JSX.Element {
  const { word, shape, tone } = stateOf(row, useRetirement(row));
  return (
    <span class={`state tone-${tone}`} title={word}>
      <Icon shape={shape} />
      <span>{word}</span>
    </span>
  );
}

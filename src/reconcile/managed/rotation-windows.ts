import { InvalidValue } from "../../base/errors.ts";
import { type MaintenanceWindow, nextOpening, parseWindow } from "../../engine/windows.ts";
import { type Fields, itemsOf, textOf } from "./read-fields.ts";
import { SpecProblem } from "./spec-problem.ts";

/** The maintenance windows that a `rotation` block states; a mistake names the field. */
export function rotationWindows(rotation: Fields | undefined, field: string): readonly MaintenanceWindow[] {
  return itemsOf(rotation?.windows).map((window, index) => readWindow(window, `${field}.windows[${index}]`));
}

function readWindow(fields: Fields, field: string): MaintenanceWindow {
  const schedule = required(fields, field, "schedule");
  const duration = required(fields, field, "duration");
  const timeZone = textOf(fields.timeZone);
  const window = parsed(field, { schedule, duration, ...(timeZone !== undefined && { timeZone }) });
  // From any instant the search goes on for longer than a line can be silent.
  if (nextOpening([window], 0) === undefined) {
    throw new SpecProblem(`${field}.schedule`, `"${schedule}" never opens: no month has such a day`);
  }
  return window;
}

function required(fields: Fields, field: string, name: string): string {
  const value = textOf(fields[name]);
  if (value === undefined) throw new SpecProblem(`${field}.${name}`, "is required");
  return value;
}

function parsed(field: string, spec: Parameters<typeof parseWindow>[0]): MaintenanceWindow {
  try {
    return parseWindow(spec);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    // Such a message begins with the name of the field.
    const end = error.message.indexOf(": ");
    throw new SpecProblem(`${field}.${error.message.slice(0, end)}`, error.message.slice(end + 2), error);
  }
}

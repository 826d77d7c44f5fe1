import type { JsonObject } from "../json.ts";
import { asArray, asObjects, asText } from "../kinds/json-fields.ts";
import { qualifiedName } from "../kinds/names.ts";
import { RESERVED } from "../schema/cel/escape.ts";
import { duplicate, invalidValue, notSupported, required, tooMany } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { PolicyCompiler, type Program } from "./policy-compiler.ts";

/** What is wrong with the conditions, variables and validations of a policy; expressions are compiled to find out. */
const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const MAX_CONDITIONS = 64;
const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
export function expressionErrors(spec: JsonObject): readonly FieldError[] {
  const compiler = new PolicyCompiler();
  return [
    // Conditions are checked before there are variables: they may not use any.
    ...conditionErrors(asObjects(spec.matchConditions), compiler),
    ...asObjects(spec.variables).flatMap((variable, index) =>
      variableErrors(variable, `spec.variables[${index}]`, compiler),
    ),
    ...presenceErrors(spec),
    ...asObjects(spec.validations).flatMap((validation, index) =>
      validationErrors(validation, `spec.validations[${index}]`, compiler),
    ),
  ];
}

function presenceErrors(spec: JsonObject): readonly FieldError[] {
  const lists = ["validations", "auditAnnotations"];
  if (lists.some((list) => asArray(spec[list]).length > 0)) return [];
  const detail = "validations or auditAnnotations must contain at least one item";
  return lists.map((list) => required(`spec.${list}`, detail));
}

function conditionErrors(conditions: readonly JsonObject[], compiler: PolicyCompiler): readonly FieldError[] {
  const list = "spec.matchConditions";
  const names = conditions.map(({ name }) => asText(name));
  const errors = conditions.flatMap((condition, index) => {
    const field = `${list}[${index}]`;
    const name = asText(condition.name);
    const source = asText(condition.expression).trim();
    return [
      ...(source === ""
        ? [required(`${field}.expression`)]
        : programErrors(compiler.compile(source, "bool"), `${field}.expression`, source)),
      ...(name === ""
        ? [required(`${field}.name`)]
        : qualifiedName(name).map((reason) => invalidValue(`${field}.name`, name, reason))),
      ...(name !== "" && names.indexOf(name) < index ? [duplicate(`${field}.name`, name)] : []),
    ];
  });
  return conditions.length > MAX_CONDITIONS ? [tooMany(list, conditions.length, MAX_CONDITIONS), ...errors] : errors;
}

function variableErrors(variable: JsonObject, field: string, compiler: PolicyCompiler): readonly FieldError[] {
  const name = asText(variable.name);
  const source = asText(variable.expression);
  const errors: FieldError[] = [];
  if (name.trim() === "") errors.push(required(`${field}.name`, "name is not specified"));
  else if (!IDENTIFIER.test(name) || RESERVED.has(name)) {
    errors.push(invalidValue(`${field}.name`, name, "must be a valid CEL identifier"));
  }
  if (source.trim() === "") errors.push(required(`${field}.expression`, "expression is not specified"));
  else errors.push(...programErrors(compiler.addVariable(name, source), `${field}.expression`, source));
  return errors;
}

function validationErrors(validation: JsonObject, field: string, compiler: PolicyCompiler): readonly FieldError[] {
  const source = asText(validation.expression);
  const message = asText(validation.message);
  const messageSource = asText(validation.messageExpression);
  const { reason } = validation;
  const errors: FieldError[] = [];
  if (source.trim() === "") errors.push(required(`${field}.expression`, "expression is not specified"));
  else errors.push(...programErrors(compiler.compile(source, "bool"), `${field}.expression`, source));
  if (messageSource !== "" && messageSource.trim() === "") {
    errors.push(invalidValue(`${field}.messageExpression`, messageSource, "must be non-empty if specified"));
  } else if (messageSource !== "") {
    const program = compiler.compile(messageSource, "string");
    errors.push(...programErrors(program, `${field}.messageExpression`, messageSource));
  }
  if (message !== "" && message.trim() === "") {
    errors.push(invalidValue(`${field}.message`, message, "must be non-empty if specified"));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalidValue(`${field}.message`, message, "must not contain line breaks"));
  }
  if (reason !== undefined && !REASONS.includes(asText(reason))) {
    errors.push(notSupported(`${field}.reason`, reason, REASONS));
  }
  return errors;
}

const programErrors = (program: Program, field: string, source: string): readonly FieldError[] =>
  program.ok ? [] : [invalidValue(field, source, program.error)];

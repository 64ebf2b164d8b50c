import { pretty } from "./format.ts";

/** A JSON Schema, as far as a form needs it. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Values by name: texts as typed, booleans, and anything that an example brought. */
export type Values = Readonly<Record<string, unknown>>;

interface FormProps {
  readonly schema: Schema | undefined;
  readonly values: Values;
  onChange(values: Values): void;
}

/** One field for each property of a schema. Lists and objects are written as JSON. */
export function SchemaForm({ schema, values, onChange }: FormProps) {
  const properties = Object.entries(schema?.properties ?? {});
  if (!schema) return null;
  if (properties.length === 0) return <p class="quiet small">It takes no arguments.</p>;
  return (
    <div class="schema-form">
      {properties.map(([name, property]) => (
        <div class="field" key={name}>
          <label for={`arg-${name}`}>
            <bdi>{name}</bdi>
            {schema.required?.includes(name) && <em> required</em>}
          </label>
          <Field
            id={`arg-${name}`}
            schema={property}
            value={values[name]}
            isRequired={schema.required?.includes(name) ?? false}
            onChange={(value) => onChange({ ...values, [name]: value })}
          />
          {property.description && <small class="outside">{property.description}</small>}
        </div>
      ))}
    </div>
  );
}

interface FieldProps {
  readonly id: string;
  readonly schema: Schema;
  readonly value: unknown;
  readonly isRequired: boolean;
  onChange(value: unknown): void;
}

function Field({ id, schema, value, isRequired, onChange }: FieldProps) {
  const type = typeOf(schema);
  const text = value === undefined ? "" : typeof value === "string" ? value : pretty(value);
  const hint = schema.default === undefined ? "" : `default: ${JSON.stringify(schema.default)}`;
  const onInput = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value);
  if (schema.enum || type === "boolean") {
    const options = (schema.enum ?? [true, false]).map((option) => JSON.stringify(option));
    return (
      <select
        id={id}
        value={value === undefined ? "" : JSON.stringify(value)}
        onChange={(event) => onChange(read(event.currentTarget.value))}
      >
        <option value="">{isRequired ? "choose" : hint || "not given"}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    );
  }
  if (type === "string" || type === "number")
    return (
      <input
        id={id}
        type="text"
        inputMode={type === "number" ? "decimal" : "text"}
        value={text}
        placeholder={hint}
        required={isRequired}
        onInput={onInput}
      />
    );
  return (
    <textarea id={id} rows={3} value={text} placeholder="JSON" required={isRequired} onInput={onInput} />
  );
}

function typeOf({ type }: Schema): "string" | "number" | "boolean" | "other" {
  const name = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  if (name === "integer" || name === "number") return "number";
  return name === "string" || name === "boolean" ? name : "other";
}

/** The arguments of the form. Empty fields are left out, and text that is no JSON stays text for the gateway to judge. */
export function toArgs(schema: Schema | undefined, values: Values): Record<string, unknown> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(
    given.map(([name, value]) => {
      const property = schema?.properties?.[name] ?? {};
      const isText = typeof value !== "string" || (typeOf(property) === "string" && !property.enum);
      return [name, isText ? value : read(value)];
    }),
  );
}

function read(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

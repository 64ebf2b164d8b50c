// The section templates of the site's design, with their fields.
import { problem } from "keyhole";

export interface TemplateField {
  readonly name: string;
  /** `image` holds one image, `images` any number. The image tools set both. */
  readonly type: "text" | "richtext" | "url" | "image" | "images";
  readonly required: boolean;
  readonly maxLength?: number;
}

export interface Template {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly fields: readonly TemplateField[];
}

export type Content = Readonly<Record<string, string>>;

const HEADING: TemplateField = { name: "heading", type: "text", required: true, maxLength: 80 };
const BODY: TemplateField = { name: "body", type: "richtext", required: true, maxLength: 5_000 };
const IMAGE: TemplateField = { name: "image", type: "image", required: false };

export const TEMPLATES: readonly Template[] = [
  {
    key: "hero",
    name: "Hero",
    description: "Opens a page: a large image with a heading and a button.",
    fields: [
      HEADING,
      { name: "subheading", type: "text", required: false, maxLength: 160 },
      IMAGE,
      { name: "buttonLabel", type: "text", required: false, maxLength: 40 },
      { name: "buttonUrl", type: "url", required: false, maxLength: 500 },
    ],
  },
  { key: "text", name: "Text", description: "A heading and running text.", fields: [HEADING, BODY] },
  {
    key: "imageText",
    name: "Image and text",
    description: "Text beside one image.",
    fields: [HEADING, BODY, IMAGE],
  },
  {
    key: "gallery",
    name: "Gallery",
    description: "Several images under a heading.",
    fields: [HEADING, { name: "images", type: "images", required: false }],
  },
  {
    key: "quote",
    name: "Quote",
    description: "What a client said.",
    fields: [
      { name: "quote", type: "text", required: true, maxLength: 400 },
      { name: "author", type: "text", required: true, maxLength: 80 },
    ],
  },
  {
    key: "contact",
    name: "Contact",
    description: "Address, mail and telephone.",
    fields: [
      HEADING,
      { name: "address", type: "text", required: true, maxLength: 200 },
      { name: "email", type: "text", required: true, maxLength: 120 },
      { name: "phone", type: "text", required: false, maxLength: 40 },
    ],
  },
];

export const TEMPLATE_KEYS = TEMPLATES.map(({ key }) => key);

export function templateOf(key: string): Template {
  const template = TEMPLATES.find((known) => known.key === key);
  if (!template) throw problem("NOT_FOUND", { name: `section template ${key}` }, { nearest: TEMPLATE_KEYS });
  return template;
}

/** Returns the image field of that name. Throws with the nearest one. */
export function imageFieldOf(template: Template, name: string): TemplateField {
  const fields = template.fields.filter(({ type }) => type === "image" || type === "images");
  const field = fields.find((known) => known.name === name);
  if (field) return field;
  const message = `is no image field of ${template.key}`;
  throw unfit(template, [{ field: name, message, nearest: fields[0]?.name ?? "" }]);
}

/** Refuses fields that the template lacks. With `whole`, also requires every required field. */
export function checkContent(template: Template, content: Content, whole: boolean): void {
  const fields = new Map(template.fields.map((field) => [field.name, field]));
  const errors = Object.entries(content).flatMap(([name, value]) => {
    const field = fields.get(name);
    if (!field) return [{ field: name, message: `is not one of ${[...fields.keys()].join(", ")}` }];
    if (field.type === "image" || field.type === "images") {
      return [{ field: name, message: "holds images, which have tools of their own" }];
    }
    const message = textError(field, value);
    return message === undefined ? [] : [{ field: name, message }];
  });
  const missing = template.fields.filter(({ name, required }) => required && !Object.hasOwn(content, name));
  if (whole) errors.push(...missing.map(({ name }) => ({ field: name, message: "is required" })));
  if (errors.length > 0) throw unfit(template, errors);
}

function textError({ type, required, maxLength = Number.POSITIVE_INFINITY }: TemplateField, value: string) {
  if (value.length > maxLength) return `is longer than ${maxLength} characters`;
  if (required && value.trim() === "") return "must not be empty";
  const leadsWell = value === "" || value.startsWith("/") || value.startsWith("https://");
  return type === "url" && !leadsWell ? "must be a path such as /team, or an https address" : undefined;
}

function unfit(template: Template, errors: readonly { field: string; message: string; nearest?: string }[]) {
  const details = { fieldErrors: errors, fields: template.fields };
  return problem("INVALID_PARAMS", { name: `a section of template ${template.key}` }, details);
}

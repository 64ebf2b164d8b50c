// Three scripts of ten turns with the editor of a website: the messages of the person and of the model, which do
// not depend on the tools that the model sees.

export interface ToolUse {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One step of the model: it searches for tools or calls some. */
export type Step = { readonly find: string } | { readonly call: readonly ToolUse[] };

export interface Turn {
  readonly prompt: string;
  readonly steps: readonly Step[];
  readonly answer: string;
}

const find = (query: string): Step => ({ find: query });
const call = (name: string, args: ToolUse["args"] = {}): Step => ({ call: [{ name, args }] });
const turn = (prompt: string, steps: readonly Step[], answer = "Done."): Turn => ({ prompt, steps, answer });

/** Turns that need no tool. */
const direct: Turn[] = [
  "What is a section?",
  "And a template?",
  "How long should a page title be?",
  "What makes a good alt text?",
  "Should a menu have more than seven items?",
  "What is the difference between a post and a page?",
  "Is it Fjell or Fjäll?",
  "Can you write shorter answers?",
  "Thank you.",
  "Bye.",
].map((prompt) => turn(prompt, [], "In one sentence: it depends on the reader."));

/** One discovery and one call, then more calls of the discovered tools and one more discovery. */
const simple: Turn[] = [
  turn("Find the hero image", [find("find image"), call("cms_searchImages", { query: "hero" })]),
  turn("One with snow?", [call("cms_searchImages", { query: "snow" })]),
  turn("With people?", [call("cms_searchImages", { query: "people" })]),
  turn("With timber?", [call("cms_searchImages", { query: "timber" })]),
  turn("Which was the first?", [], "hero-mountain-dawn.jpg"),
  turn("Which pages are there?", [find("list pages"), call("cms_listPages")]),
  turn("Again, please.", [call("cms_listPages")]),
  turn("An image of the workshop?", [call("cms_searchImages", { query: "workshop" })]),
  turn("Is there a contact page?", [call("cms_listPages")]),
  turn("Thank you.", [], "You are welcome."),
];

/** Two discoveries and five calls, then more calls of the discovered tools and one more discovery. */
const complex: Turn[] = [
  turn("Create an about page with a hero and an image", [
    find("create page with content, fields of a section template"),
    call("cms_getSectionFields", { template: "hero" }),
    call("cms_getSectionFields", { template: "imageText" }),
    call("cms_createPageWithContent", {
      name: "About",
      sections: [{ template: "hero", name: "About hero", content: { heading: "Eleven people" } }],
    }),
    find("search images and add image to section"),
    call("cms_searchImages", { query: "team at work" }),
    call("cms_addImageToSection", { section: "sec_new_1", image: "img_005" }),
  ]),
  turn("Another picture, please.", [call("cms_searchImages", { query: "workshop" })]),
  turn("Make a page for workshops too.", [
    call("cms_createPageWithContent", {
      name: "Workshops",
      sections: [{ template: "text", name: "Dates", content: { text: "In May." } }],
    }),
    call("cms_addImageToSection", { section: "sec_new_2", image: "img_006" }),
  ]),
  turn("With the saw on it.", [call("cms_searchImages", { query: "saw" })]),
  turn("Put both into the menu.", [
    find("add to navigation menu"),
    call("cms_addNavigationItem", { label: "About", url: "/about" }),
    call("cms_addNavigationItem", { label: "Workshops", url: "/workshops" }),
  ]),
  turn("Which fields has a hero?", [call("cms_getSectionFields", { template: "hero" })]),
  turn("Another of the team?", [call("cms_searchImages", { query: "team" })]),
  turn("Which picture was it?", [], "The one of the team."),
  turn("Good.", [], "Anything else?"),
  turn("No, thank you.", [], "Bye."),
];

export const CONVERSATIONS: Readonly<Record<"A" | "B" | "C", readonly Turn[]>> = {
  A: direct,
  B: simple,
  C: complex,
};

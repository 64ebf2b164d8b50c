// Pages, sections, menu and collections of Studio Fjell, a fictional architecture studio.

/** slug, name, description */
export const PAGES = [
  ["home", "Home", "Who we are in one screen: houses for mountains and weather."],
  ["projects", "Projects", "Houses, huts and schools we have built since 2009."],
  ["services", "Services", "What we do: design, permits, supervision of the site."],
  ["process", "Process", "From the first walk over the plot to the key, in five steps."],
  ["team", "Team", "The eleven people who draw, calculate and build models."],
  ["journal", "Journal", "Notes from building sites and from the workshop."],
  ["careers", "Careers", "Open positions and how to apply."],
  ["press", "Press", "Articles about the studio, and pictures for editors."],
  ["contact", "Contact", "Address, opening hours and how to find us."],
] as const;

/** page, template, name, content, images by field */
export const SECTIONS: readonly (readonly [
  page: string,
  template: string,
  name: string,
  content: Readonly<Record<string, string>>,
  images?: Readonly<Record<string, readonly string[]>>,
])[] = [
  [
    "home",
    "hero",
    "Home hero",
    {
      heading: "Houses for mountains and weather",
      subheading: "We design timber buildings that stand well in snow.",
      buttonLabel: "See our projects",
      buttonUrl: "/projects",
    },
    { image: ["img_001"] },
  ],
  [
    "home",
    "text",
    "Welcome",
    { heading: "Built to last", body: "Since 2009 we build with wood from forests nearby." },
  ],
  [
    "home",
    "imageText",
    "Featured project",
    { heading: "The ridge cabin", body: "Sixty square metres at 1,900 metres, warm all winter." },
    { image: ["img_004"] },
  ],
  [
    "home",
    "quote",
    "Client voice",
    { quote: "They asked about the wind before they asked about the budget.", author: "Ingrid Moen" },
  ],
  [
    "projects",
    "hero",
    "Projects hero",
    { heading: "Projects", subheading: "Huts, houses and two schools." },
    { image: ["img_002"] },
  ],
  [
    "projects",
    "gallery",
    "Cabins",
    { heading: "Cabins" },
    { images: ["img_004", "img_005", "img_006", "img_007"] },
  ],
  ["projects", "gallery", "Houses", { heading: "Houses" }, { images: ["img_008", "img_009", "img_010"] }],
  ["projects", "gallery", "Schools", { heading: "Schools" }, { images: ["img_011", "img_012"] }],
  [
    "services",
    "hero",
    "Services hero",
    { heading: "Services", subheading: "From sketch to key." },
    { image: ["img_020"] },
  ],
  [
    "services",
    "text",
    "Design",
    { heading: "Design", body: "Sketches, models and drawings, with costs from the start." },
  ],
  [
    "services",
    "text",
    "Permits",
    { heading: "Permits", body: "We talk to the municipality and file the building application." },
  ],
  [
    "services",
    "text",
    "Site supervision",
    { heading: "Site supervision", body: "Weekly visits, and a report with pictures." },
  ],
  [
    "process",
    "hero",
    "Process hero",
    { heading: "Five steps", subheading: "Walk, sketch, calculate, build, hand over." },
    { image: ["img_021"] },
  ],
  [
    "process",
    "imageText",
    "The walk",
    { heading: "First, we walk", body: "Sun, slope, wind and snow decide where a house may stand." },
    { image: ["img_003"] },
  ],
  [
    "process",
    "imageText",
    "The model",
    { heading: "Then, a model", body: "A model of birch at 1:50 shows more than any rendering." },
    { image: ["img_022"] },
  ],
  [
    "process",
    "text",
    "The price",
    { heading: "A fixed price", body: "Before digging begins, the price is fixed." },
  ],
  ["team", "hero", "Team hero", { heading: "Eleven people" }, { image: ["img_030"] }],
  [
    "team",
    "text",
    "Founders",
    { heading: "Founders", body: "Astrid Hauge and Jonas Lien met on a roof in a storm." },
  ],
  [
    "team",
    "gallery",
    "Portraits",
    { heading: "Portraits" },
    { images: ["img_031", "img_032", "img_033", "img_034"] },
  ],
  ["journal", "hero", "Journal hero", { heading: "Journal" }, { image: ["img_023"] }],
  [
    "journal",
    "text",
    "About the journal",
    { heading: "What we write", body: "One note a month, from a site or the workshop." },
  ],
  ["careers", "hero", "Careers hero", { heading: "Work with us" }, { image: ["img_024"] }],
  [
    "careers",
    "text",
    "Open positions",
    { heading: "Open positions", body: "An architect for timber, and a trainee in the model workshop." },
  ],
  [
    "careers",
    "text",
    "How to apply",
    { heading: "How to apply", body: "Send ten pages at most to jobs@fjell.example." },
  ],
  ["press", "hero", "Press hero", { heading: "Press" }, { image: ["img_025"] }],
  [
    "press",
    "gallery",
    "Press pictures",
    { heading: "Pictures for editors" },
    { images: ["img_001", "img_008"] },
  ],
  [
    "press",
    "quote",
    "A critic",
    { quote: "Quiet houses that know where north is.", author: "Timber Review" },
  ],
  ["contact", "hero", "Contact hero", { heading: "Contact" }, { image: ["img_026"] }],
  [
    "contact",
    "contact",
    "Address",
    {
      heading: "Come by",
      address: "Fjellveien 12, 5014 Bergen",
      email: "post@fjell.example",
      phone: "+47 55 00 00 00",
    },
  ],
  [
    "contact",
    "text",
    "Opening hours",
    { heading: "Opening hours", body: "Monday to Thursday, nine to four." },
  ],
];

/** id, label, url, visible */
export const NAVIGATION = [
  ["nav_projects", "Projects", "/projects", 1],
  ["nav_services", "Services", "/services", 1],
  ["nav_process", "Process", "/process", 1],
  ["nav_team", "Team", "/team", 1],
  ["nav_journal", "Journal", "/journal", 1],
  ["nav_careers", "Careers", "/careers", 0],
  ["nav_contact", "Contact", "/contact", 1],
] as const;

/** collection, slug, title, summary, content */
export const ENTRIES: readonly (readonly [
  string,
  string,
  string,
  string,
  Readonly<Record<string, string>>,
])[] = [
  [
    "projects",
    "ridge-cabin",
    "Ridge cabin",
    "A cabin at 1,900 metres.",
    { place: "Jotunheimen", year: "2021" },
  ],
  ["projects", "lake-house", "Lake house", "A house on piles.", { place: "Voss", year: "2019" }],
  [
    "projects",
    "valley-school",
    "Valley school",
    "Six classrooms of spruce.",
    { place: "Flåm", year: "2023" },
  ],
  ["team", "astrid-hauge", "Astrid Hauge", "Founder, architect.", { email: "astrid@fjell.example" }],
  ["team", "jonas-lien", "Jonas Lien", "Founder, engineer.", { email: "jonas@fjell.example" }],
  ["testimonials", "moen", "Ingrid Moen", "Client of the ridge cabin.", { stars: "5" }],
  ["testimonials", "voss-council", "Voss council", "Client of the lake path.", { stars: "4" }],
];

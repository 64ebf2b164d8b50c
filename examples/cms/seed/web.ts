// The content of the loopback web.
export interface Photo {
  readonly id: number;
  readonly photographer: string;
  readonly alt: string;
  readonly src: { readonly original: string };
}

export const PHOTOS: readonly Photo[] = [
  photo(1001, "Lena Brandt", "Mountain lake under snow"),
  photo(1002, "Pablo Ruiz", "Mountain hut with red door"),
  photo(1003, "Aiko Mori", "Forest path in autumn"),
  photo(1004, "Lena Brandt", "Desk with plans and coffee"),
  photo(1005, "Sam Okoro", "Harbour at night"),
  photo(1006, "Aiko Mori", "Bread on a wooden table"),
];

export const ARTICLES = [
  {
    url: "https://snow-office.example/roof-loads",
    title: "Snow loads on roofs",
    paragraphs: [
      "Wet snow weighs up to 400 kilograms on a cubic metre.",
      "Flat roofs in high valleys are designed for at least 4.5 kilonewtons on a square metre.",
      "Clear a roof before the load reaches two thirds of what it carries.",
    ],
  },
  {
    url: "https://timber-review.example/untreated-larch",
    title: "Untreated larch facades after ten years",
    paragraphs: [
      "Larch facades without paint turn grey within five years.",
      "What matters is the distance to the ground: thirty centimetres keep boards dry.",
      "No board of the forty in the test had to be replaced.",
    ],
  },
  {
    url: "https://timber-review.example/timber-schools",
    title: "Schools built of timber",
    paragraphs: [
      "Twelve schools of timber were opened last year.",
      "Classrooms of spruce have shorter reverberation than those of concrete.",
    ],
  },
  {
    url: "https://building-law.example/cabin-permits",
    title: "Permits for cabins above the tree line",
    paragraphs: [
      "A cabin above the tree line needs a permit of the municipality and a report on avalanches.",
      "Snow loads have to be proven for the place, not for the region.",
    ],
  },
] as const;

function photo(id: number, photographer: string, alt: string): Photo {
  return { id, photographer, alt, src: { original: `https://images.pexels.example/${id}.svg` } };
}

// A compact notation for a project: rows by kind, completed with the defaults of the kind.
import { KINDS, type Kind, type Relation } from "../kinds.ts";

/** Id without its prefix, title, state, and further fields. */
type Row = readonly [id: string, title: string, state: string, fields?: Fields];

interface Fields {
  readonly description?: string;
  readonly type_key?: string;
  readonly priority?: number;
  readonly due_at?: string;
  readonly impact?: string;
  readonly probability?: string;
  readonly content?: string;
  /** The id of the folder, without its prefix. */
  readonly parent?: string;
}

export interface EntityRow extends Omit<Fields, "parent"> {
  readonly id: string;
  readonly kind: Kind;
  readonly project_id: string;
  readonly title: string;
  readonly type_key: string;
  readonly state_key: string;
  readonly parent_id?: string;
  readonly position?: number;
}

export type EdgeRow = readonly [from: string, rel: Relation, to: string];

export interface ProjectData {
  readonly entities: readonly EntityRow[];
  readonly edges: readonly EdgeRow[];
}

export function toProject(
  project: Row,
  parts: Partial<Record<Kind, readonly Row[]>>,
  edges: readonly EdgeRow[],
): ProjectData {
  const projectId = `prj_${project[0]}`;
  const entities = Object.entries({ project: [project], ...parts }).flatMap(([kind, rows]) =>
    rows.map((row) => toEntity(kind as Kind, row, projectId)),
  );
  return { entities: numbered(entities), edges };
}

function toEntity(kind: Kind, [id, title, state_key, fields = {}]: Row, project_id: string): EntityRow {
  const { prefix, types } = KINDS[kind];
  const { parent, ...rest } = fields;
  return {
    id: `${prefix}_${id}`,
    kind,
    project_id,
    title,
    state_key,
    type_key: types[0],
    ...rest,
    ...(parent && { parent_id: `${prefix}_${parent}` }),
  };
}

/** Documents keep the order in which they are written here. */
function numbered(entities: readonly EntityRow[]): EntityRow[] {
  const counts = new Map<string | undefined, number>();
  return entities.map((entity) => {
    if (entity.kind !== "document") return entity;
    const position = counts.get(entity.parent_id) ?? 0;
    counts.set(entity.parent_id, position + 1);
    return { ...entity, position };
  });
}

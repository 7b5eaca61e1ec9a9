import * as z from 'zod';
import type { ToolSpec } from '../model/model.ts';
import type { Tool } from './tool.ts';

/** A tool never changes, and every step offers all of them. */
const made = new WeakMap<Tool, ToolSpec>();

/** How a tool is offered to a model: JSON Schema of what may be sent, without the dialect's address. */
export const toolSpec = (tool: Tool): ToolSpec => {
  const known = made.get(tool);
  if (known !== undefined) return known;
  const spec = makeSpec(tool);
  made.set(tool, spec);
  return spec;
};

const makeSpec = (tool: Tool): ToolSpec => {
  const { $schema: _, ...parameters } = z.toJSONSchema(tool.schema, {
    io: 'input',
    // Several servers refuse what they do not know, and this says nothing: names in JSON are strings.
    override: ({ jsonSchema }) => {
      delete jsonSchema.propertyNames;
    },
  });
  return { name: tool.name, description: tool.description, parameters };
};

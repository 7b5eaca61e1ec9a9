import * as z from 'zod';
import type { ToolSpec } from '../model/model.ts';
import type { Tool } from './tool.ts';

/** How a tool is offered to a model: JSON Schema of what may be sent, without the dialect's address. */
export const toolSpec = (tool: Tool): ToolSpec => {
  const { $schema: _, ...parameters } = z.toJSONSchema(tool.schema, {
    io: 'input',
    // Several servers refuse what they do not know, and this says nothing: names in JSON are strings.
    override: ({ jsonSchema }) => {
      delete jsonSchema.propertyNames;
    },
  });
  return { name: tool.name, description: tool.description, parameters };
};

import * as z from 'zod';
import type { ToolSpec } from '../model/model.ts';
import type { Tool } from './tool.ts';

/** A schema never changes, and every step offers all tools. */
const made = new WeakMap<Tool['schema'], ToolSpec['parameters']>();

/** How a tool is offered to a model: JSON Schema of what may be sent, without the dialect's address. */
export const toolSpec = ({ name, description, schema }: Tool): ToolSpec => {
  const known = made.get(schema);
  if (known !== undefined) return { name, description, parameters: known };
  const parameters = parametersOf(schema);
  made.set(schema, parameters);
  return { name, description, parameters };
};

const parametersOf = (schema: Tool['schema']): ToolSpec['parameters'] => {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, {
    io: 'input',
    // Several servers refuse what they do not know, and this says nothing: names in JSON are strings.
    override: ({ jsonSchema }) => {
      delete jsonSchema.propertyNames;
    },
  });
  return parameters;
};

import { expectTypeOf, test } from 'vitest'
import type { Operation } from '../../../src/control-plane/api/operation.ts'
import { operation } from '../../../src/control-plane/api/operation.ts'
import { checkValue } from '../../../src/control-plane/schema/check.ts'
import { type Infer, nullable } from '../../../src/control-plane/schema/json-schema.ts'
import type { Checked } from '../../../src/control-plane/schema/problem.ts'
import type { Json } from '../../../src/storage/index.ts'

test('the type of a schema is that of its values', () => {
  expectTypeOf<Infer<{ type: 'string' }>>().toEqualTypeOf<string>()
  expectTypeOf<Infer<{ type: 'string'; format: 'uuid' }>>().toEqualTypeOf<string>()
  expectTypeOf<Infer<{ type: 'integer' }>>().toEqualTypeOf<number>()
  expectTypeOf<Infer<{ type: 'number' }>>().toEqualTypeOf<number>()
  expectTypeOf<Infer<{ type: 'boolean' }>>().toEqualTypeOf<boolean>()
  expectTypeOf<Infer<{ type: 'null' }>>().toEqualTypeOf<null>()
  expectTypeOf<Infer<{ const: 'k8s' }>>().toEqualTypeOf<'k8s'>()
  expectTypeOf<Infer<{ type: 'string'; enum: readonly ['a', 'b'] }>>().toEqualTypeOf<'a' | 'b'>()
  expectTypeOf<Infer<{ type: 'array'; items: { type: 'integer' } }>>().toEqualTypeOf<readonly number[]>()
  expectTypeOf<Infer<{ type: 'array' }>>().toEqualTypeOf<readonly Json[]>()
  expectTypeOf<Infer<{ type: 'object' }>>().toEqualTypeOf<Readonly<Record<string, Json | undefined>>>()
  expectTypeOf<Infer<{ type: 'object'; additionalProperties: true }>>().toEqualTypeOf<
    Readonly<Record<string, Json | undefined>>
  >()
  expectTypeOf<Infer<{ type: 'object'; additionalProperties: { type: 'string' } }>>().toEqualTypeOf<
    Readonly<Record<string, string>>
  >()
  // biome-ignore lint/complexity/noBannedTypes: the schema that takes anything.
  expectTypeOf<Infer<{}>>().toEqualTypeOf<unknown>()
})

test('a member is there if it is required or has a default, and null only where that is declared', () => {
  const schema = {
    type: 'object',
    properties: {
      required: { type: 'string' },
      preset: { type: 'integer', default: 1 },
      presetNull: { ...nullable({ type: 'string' }), default: null },
      optional: nullable({ type: 'array', items: { type: 'object', properties: { x: { const: 1 } } } }),
    },
    required: ['required'],
  } as const
  type Value = Infer<typeof schema>
  expectTypeOf<Value['required']>().toEqualTypeOf<string>()
  expectTypeOf<Value['preset']>().toEqualTypeOf<number>()
  expectTypeOf<Value['presetNull']>().toEqualTypeOf<string | null>()
  expectTypeOf<NonNullable<Value['optional']>[number]['x']>().toEqualTypeOf<1 | undefined>()
  expectTypeOf<{ required: string; preset: number; presetNull: null }>().toExtend<Value>()
  expectTypeOf<{ preset: number; presetNull: null }>().not.toExtend<Value>()
  expectTypeOf(checkValue({ type: 'array', items: { enum: ['a'] } }, [])).toEqualTypeOf<
    Checked<readonly 'a'[]>
  >()
})

test('an operation knows its input by its declaration', () => {
  const declared = operation(
    {
      method: 'POST',
      path: '/a/{one}/b/{two}',
      tag: 'T',
      summary: 'S',
      params: { properties: { two: { type: 'integer' } } },
      query: { properties: { limit: { type: 'integer', default: 1 } } },
      responses: { 204: null },
    },
    async (_, { params, query, body }) => {
      expectTypeOf(params).toEqualTypeOf<{ readonly one: string; readonly two: number }>()
      expectTypeOf(query.limit).toEqualTypeOf<number>()
      expectTypeOf(body).toEqualTypeOf<undefined>()
      return {}
    },
  )
  expectTypeOf(declared).toEqualTypeOf<Operation>()
})

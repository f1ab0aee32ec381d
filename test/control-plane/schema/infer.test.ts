import { expectTypeOf, test } from 'vitest'
import * as z from 'zod/mini'
import { type Operation, operation } from '../../../src/control-plane/api/operation.ts'
import { noted } from '../../../src/control-plane/schema/json-schema.ts'
import { type JSON_OBJECT, titled } from '../../../src/control-plane/wire/common.ts'
import type { Json } from '../../../src/storage/index.ts'

test('the type of a schema is that of its values, also with notes', () => {
  const uuid = noted(z.string(), { format: 'uuid' })
  expectTypeOf<z.output<typeof uuid>>().toEqualTypeOf<string>()
  const kind = noted(z.literal('k8s'), { description: 'A kind.' })
  expectTypeOf<z.output<typeof kind>>().toEqualTypeOf<'k8s'>()
  const one = noted(z.enum(['a', 'b']), { description: 'One of both.' })
  expectTypeOf<z.output<typeof one>>().toEqualTypeOf<'a' | 'b'>()
  expectTypeOf<z.output<typeof JSON_OBJECT>>().toEqualTypeOf<{ [name: string]: Json | undefined }>()
})

test('a member is there if it is required or has a default, and null only where that is declared', () => {
  const schema = titled('Thing', {
    required: z.string(),
    preset: z._default(z.int(), 1),
    presetNull: z._default(z.nullable(z.string()), null),
    optional: z.nullish(z.array(z.object({ x: z.optional(z.literal(1)) }))),
  })
  type Value = z.output<typeof schema>
  expectTypeOf<Value['required']>().toEqualTypeOf<string>()
  expectTypeOf<Value['preset']>().toEqualTypeOf<number>()
  expectTypeOf<Value['presetNull']>().toEqualTypeOf<string | null>()
  expectTypeOf<NonNullable<Value['optional']>[number]['x']>().toEqualTypeOf<1 | undefined>()
  expectTypeOf<{ required: string; preset: number; presetNull: null }>().toExtend<Value>()
  expectTypeOf<{ preset: number; presetNull: null }>().not.toExtend<Value>()
})

test('an operation knows its input by its declaration', () => {
  const declared = operation(
    'POST /a/{one}/b/{two}',
    'S',
    {
      tag: 'T',
      params: z.object({ two: z.int() }),
      query: z.object({ limit: z._default(z.int(), 1) }),
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

import { expect, test } from 'vitest'
import { checkValue, type JsonSchema, nullable } from '../support/check-value.ts'

const text = { type: 'string' } as const
const integer = { type: 'integer' } as const
const number = { type: 'number' } as const
const boolean = { type: 'boolean' } as const
const uuid = { type: 'string', format: 'uuid' } as const
const dateTime = { type: 'string', format: 'date-time' } as const

const ID = '0b0c7d0e-1c2f-4a5b-8c9d-0123456789ab'

/** What Pydantic 2.13 makes of a value. */
const ACCEPTED: readonly (readonly [JsonSchema, given: unknown, read: unknown])[] = [
  [text, '', ''],
  [text, ' a ', ' a '],
  [{ type: 'string', minLength: 1, maxLength: 1 }, '😀', '😀'],
  [{ type: 'string', minLength: 2 }, '😀😀', '😀😀'],
  [integer, 5, 5],
  [integer, '5', 5],
  [integer, '5.0', 5],
  [integer, ' 5 ', 5],
  [integer, '+5', 5],
  [integer, '-5', -5],
  [integer, '-0', 0],
  [integer, '007', 7],
  [integer, '1_000', 1_000],
  [integer, true, 1],
  [integer, false, 0],
  [number, 1.5, 1.5],
  [number, '1.5', 1.5],
  [number, ' .5 ', 0.5],
  [number, '5.', 5],
  [number, '1e3', 1_000],
  [number, '1_0.5', 10.5],
  [number, true, 1],
  [boolean, true, true],
  [boolean, 1, true],
  [boolean, 0, false],
  ...['1', 't', 'Y', 'on', 'YES', 'True'].map((word) => [boolean, word, true] as const),
  ...['0', 'f', 'N', 'off', 'NO', 'False'].map((word) => [boolean, word, false] as const),
  [uuid, ID, ID],
  [uuid, ID.toUpperCase(), ID],
  [uuid, ID.replaceAll('-', ''), ID],
  [uuid, `{${ID}}`, ID],
  [uuid, `urn:uuid:${ID}`, ID],
  [dateTime, '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
  [dateTime, '2026-01-02 03:04:05', '2026-01-02T03:04:05.000Z'],
  [dateTime, '2026-01-02t03:04', '2026-01-02T03:04:00.000Z'],
  [dateTime, '2026-01-02_03:04:05.123456789z', '2026-01-02T03:04:05.123Z'],
  [dateTime, '2026-01-02T03:04:05,5+02:30', '2026-01-02T00:34:05.500Z'],
  [dateTime, '2026-01-02T03:04:05-0230', '2026-01-02T05:34:05.000Z'],
  [dateTime, '2026-01-02T03:04:05−02:30', '2026-01-02T05:34:05.000Z'],
  [dateTime, '2026-01-02', '2026-01-02T00:00:00.000Z'],
  [dateTime, '0001-01-01', '0001-01-01T00:00:00.000Z'],
  [dateTime, -20_000_000_000, '1336-03-23T12:26:40.000Z'],
  [dateTime, '2024-02-29', '2024-02-29T00:00:00.000Z'],
  [dateTime, 1_767_225_600, '2026-01-01T00:00:00.000Z'],
  [dateTime, 1_767_225_600_000, '2026-01-01T00:00:00.000Z'],
  [dateTime, '1767225600.5', '2026-01-01T00:00:00.500Z'],
  [dateTime, 20_000_000_000, '2603-10-11T11:33:20.000Z'],
  [dateTime, 20_000_000_001, '1970-08-20T11:33:20.001Z'],
  [nullable(integer), null, null],
  [nullable(integer), '3', 3],
  [{ const: 'k8s' }, 'k8s', 'k8s'],
  [{ enum: ['a', 'b'] }, 'b', 'b'],
  [{ type: 'array', items: integer }, ['1', 2], [1, 2]],
  [{ type: 'object' }, { a: [1] }, { a: [1] }],
  [{ type: 'object', additionalProperties: integer }, { a: '1' }, { a: 1 }],
  [{}, ['anything'], ['anything']],
]

test.each(ACCEPTED)('%j reads %j as %j', (schema, given, read) => {
  expect(checkValue(schema, given)).toEqual({ value: read })
})

const INTEGER = 'Input should be a valid integer'
const NUMBER = 'Input should be a valid number'
const BOOLEAN = 'Input should be a valid boolean'
const UNPARSED = ', unable to parse string as an integer'
const DATE = 'Input should be a valid datetime'
const NO_TIME = 'expected RFC 3339 or a Unix timestamp, in the years 1 to 9999'
const NO_UUID = 'expected 32 hexadecimal digits'

const REFUSED: readonly (readonly [JsonSchema, given: unknown, type: string, msg: string, ctx?: object])[] = [
  [text, 5, 'string_type', 'Input should be a valid string'],
  [text, null, 'string_type', 'Input should be a valid string'],
  [
    text,
    '\ud800',
    'string_unicode',
    'Input should be a valid string, unable to parse raw data as a unicode string',
  ],
  [
    { type: 'string', minLength: 1 },
    '',
    'string_too_short',
    'String should have at least 1 character',
    { min_length: 1 },
  ],
  [
    { type: 'string', minLength: 3 },
    '😀😀',
    'string_too_short',
    'String should have at least 3 characters',
    { min_length: 3 },
  ],
  [
    { type: 'string', maxLength: 1 },
    'ab',
    'string_too_long',
    'String should have at most 1 character',
    { max_length: 1 },
  ],
  [integer, 'x', 'int_parsing', INTEGER + UNPARSED],
  ...[
    '',
    '5.',
    '00_',
    '42_.0',
    '--1',
    '1e3',
    '5.5',
    '1__0',
    '_1',
    '1_',
    '1__000',
    '1_',
    '_1',
    '0x10',
    '+-5',
    '٥',
    '1 0',
  ].map((given) => [integer, given, 'int_parsing', INTEGER + UNPARSED] as const),
  [integer, 5.5, 'int_from_float', `${INTEGER}, got a number with a fractional part`],
  [integer, JSON.parse('1e400'), 'finite_number', 'Input should be a finite number'],
  [integer, null, 'int_type', INTEGER],
  [integer, [], 'int_type', INTEGER],
  [integer, 1e300, 'int_parsing_size', 'Unable to parse input string as an integer, exceeded maximum size'],
  [integer, '9'.repeat(4_301), 'finite_number', 'Input should be a finite number'],
  [
    { type: 'integer', maximum: 100 },
    '9'.repeat(30),
    'less_than_equal',
    'Input should be less than or equal to 100',
    { le: 100 },
  ],
  [
    { type: 'integer', minimum: 1 },
    '0',
    'greater_than_equal',
    'Input should be greater than or equal to 1',
    { ge: 1 },
  ],
  [
    { type: 'number', minimum: 0.1 },
    0,
    'greater_than_equal',
    'Input should be greater than or equal to 0.1',
    { ge: 0.1 },
  ],
  [number, 'x', 'float_parsing', `${NUMBER}, unable to parse string as a number`],
  ...['', '.', 'e5', '1__0', '0x1', 'nan', '-Infinity'].map(
    (given) => [number, given, 'float_parsing', `${NUMBER}, unable to parse string as a number`] as const,
  ),
  [number, null, 'float_type', NUMBER],
  [number, '1e400', 'finite_number', 'Input should be a finite number'],
  [boolean, 'x', 'bool_parsing', `${BOOLEAN}, unable to interpret input`],
  [boolean, ' true ', 'bool_parsing', `${BOOLEAN}, unable to interpret input`],
  [boolean, 2, 'bool_parsing', `${BOOLEAN}, unable to interpret input`],
  [boolean, 1.5, 'bool_parsing', `${BOOLEAN}, unable to interpret input`],
  [boolean, null, 'bool_type', BOOLEAN],
  [uuid, 5, 'uuid_type', 'UUID input should be a string, bytes or UUID object'],
  ...[
    '',
    'xyz',
    'abc',
    `${ID} `,
    `{${ID.replaceAll('-', '')}}`,
    `URN:uuid:${ID}`,
    `{${ID}`,
    ID.slice(0, -1),
    `${ID.slice(0, 8)}${ID.slice(9)}`,
  ].map(
    (given) =>
      [uuid, given, 'uuid_parsing', `Input should be a valid UUID, ${NO_UUID}`, { error: NO_UUID }] as const,
  ),
  [dateTime, null, 'datetime_type', DATE],
  [dateTime, true, 'datetime_type', DATE],
  ...[1e15, JSON.parse('1e400')].map(
    (given) => [dateTime, given, 'datetime_parsing', `${DATE}, ${NO_TIME}`, { error: NO_TIME }] as const,
  ),
  ...[
    '',
    'yesterday',
    'not a date at all',
    '2026_01_02',
    '2026-x1-02',
    '2026-13-02',
    '2026-00-02',
    '2026-02-29',
    '2026-04-31',
    '2026-01-0x',
    '2026-01-02T25:00:00Z',
    '2026-01-02T23:60:00Z',
    '2026-01-02T23:00:60Z',
    '2026-01-02T03:04:05 02:00',
    '2026-01-02T03:04:05+24:00',
    '2026-01-02T03:04:05+01:60',
    '2026-01-02X03:04:05',
    '0000-12-31T23:59:59Z',
    '999999999999999',
    '-99999999999999',
  ].map(
    (given) =>
      [
        dateTime,
        given,
        'datetime_from_date_parsing',
        `${DATE} or date, ${NO_TIME}`,
        { error: NO_TIME },
      ] as const,
  ),
  [{ const: 'k8s' }, 'x', 'literal_error', "Input should be 'k8s'", { expected: "'k8s'" }],
  [
    { enum: ['a', 'b', 'c'] },
    'A',
    'literal_error',
    "Input should be 'a', 'b' or 'c'",
    { expected: "'a', 'b' or 'c'" },
  ],
  [nullable({ enum: ['a'] }), 1, 'literal_error', "Input should be 'a'", { expected: "'a'" }],
  [{ type: 'array', items: text }, {}, 'list_type', 'Input should be a valid list'],
  [
    { type: 'array', items: text, maxItems: 1 },
    [1, 2],
    'too_long',
    'List should have at most 1 item after validation, not 2',
    { field_type: 'List', max_length: 1, actual_length: 2 },
  ],
  [
    { type: 'array', items: text, minItems: 2 },
    ['a'],
    'too_short',
    'List should have at least 2 items after validation, not 1',
    { field_type: 'List', min_length: 2, actual_length: 1 },
  ],
  [{ type: 'object' }, [], 'dict_type', 'Input should be a valid dictionary'],
  [
    { type: 'object', properties: {} },
    'x',
    'model_attributes_type',
    'Input should be a valid dictionary or object to extract fields from',
  ],
]

for (const [schema, given, type, msg, ctx] of REFUSED) {
  test(`${JSON.stringify(schema)} refuses ${JSON.stringify(given)?.slice(0, 60)} with ${type}`, () => {
    const { problems } = checkValue(schema, given, ['body', 'x'])
    const input = typeof given === 'string' && given.length > 2_048 ? expect.stringMatching(/…$/) : given
    expect(problems).toEqual([{ type, loc: ['body', 'x'], msg, input, ...(ctx && { ctx }) }])
  })
}

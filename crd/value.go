package crd

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-kube/kube/internal/suggest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// literal turns the text of a tag into JSON of the node's type: text is itself where a string
// is wanted, and JSON elsewhere. Where both an integer and a string will do, quotes decide.
func literal(s *props, v value) (*apiextensionsv1.JSON, error) {
	if v.json != nil {
		return &apiextensionsv1.JSON{Raw: v.json}, nil
	}
	_, isInteger := strconv.ParseInt(v.text, 10, 64)
	asString := s.Type == "string" || s.XIntOrString && (v.quoted || isInteger != nil)
	if asString && !v.quoted && v.text == "null" {
		return nil, fmt.Errorf("has null, which the API server drops here; if the text is meant, put it in quotes: 'null'")
	}
	if asString {
		raw, err := json.Marshal(v.text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", v.text, err)
		}
		return &apiextensionsv1.JSON{Raw: raw}, nil
	}
	raw := jsontext.Value(v.text)
	if err := raw.Compact(); err != nil {
		_, name := typeOf(s)
		return nil, fmt.Errorf("needs JSON of type %s, and has %q", name, v.text)
	}
	j := apiextensionsv1.JSON{Raw: raw}
	if _, err := decode(j); err != nil { // it is valid JSON, with a number out of range
		return nil, fmt.Errorf("needs a number that a 64-bit float can hold, and has %q", v.text)
	}
	return &j, nil
}

// decode reads what a schema holds as JSON.
func decode(j apiextensionsv1.JSON) (v any, err error) {
	err = json.Unmarshal(j.Raw, &v)
	return v, err
}

// fitsSchema says why the JSON value v does not conform to s, or returns nil. Values come
// from defaults, examples and enums, so the first reason is enough. Beside what JSON Schema
// asks for, an object may hold no field that the API server would prune.
func fitsSchema(s *props, v any, path string) error {
	if v == nil {
		if s.Nullable || typeless(s) {
			return nil
		}
		return fmt.Errorf("%snull is not allowed", path)
	}
	if err := fitsType(s, v, path); err != nil {
		return err
	}
	if err := fitsEnum(s, v, path); err != nil {
		return err
	}
	var err error
	switch v := v.(type) {
	case string:
		err = fitsString(s, v, path)
	case float64:
		err = fitsNumber(s, v, path)
	case []any:
		err = fitsArray(s, v, path)
	case map[string]any:
		err = fitsObject(s, v, path)
	}
	if err != nil {
		return err
	}
	return fitsJunctors(s, v, path)
}

func typeless(s *props) bool { return s.Type == "" && !s.XIntOrString }

// jsonType names the type of a decoded value as a schema does.
func jsonType(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}

func fitsType(s *props, v any, path string) error {
	is := jsonType(v)
	switch {
	case typeless(s), is == s.Type, is == "integer" && s.Type == "number":
		return nil
	case s.XIntOrString && (is == "integer" || is == "string"):
		return nil
	}
	_, want := typeOf(s)
	return fmt.Errorf("%s%s is of type %s, and the schema wants %s", path, show(v), is, want)
}

// show writes a value as JSON, cut to a length that an error can carry.
func show(v any) string {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(raw) > 60 {
		return strings.ToValidUTF8(string(raw[:60]), "") + "…"
	}
	return string(raw)
}

func fitsEnum(s *props, v any, path string) error {
	if len(s.Enum) == 0 {
		return nil
	}
	var known []string
	for _, e := range s.Enum {
		allowed, err := decode(e)
		if err == nil && reflect.DeepEqual(allowed, v) {
			return nil
		}
		known = append(known, string(e.Raw))
	}
	return fmt.Errorf("%s%s is not in the enum %s", path, show(v), strings.Join(known, ", "))
}

func fitsString(s *props, v, path string) error {
	length := int64(utf8.RuneCountInString(v))
	if err := within(length, s.MinLength, s.MaxLength, "minLength", "maxLength"); err != nil {
		return fmt.Errorf("%s%s %w", path, show(v), err)
	}
	if s.Pattern != "" {
		if re, err := regexp.Compile(s.Pattern); err == nil && !re.MatchString(v) {
			return fmt.Errorf("%s%s does not match the pattern %s", path, show(v), s.Pattern)
		}
	}
	if err := fitsFormat(s.Format, v); err != nil {
		return fmt.Errorf("%s%s is not of format %s: %w", path, show(v), s.Format, err)
	}
	return nil
}

// fitsFormat checks a format as the API server does, which leaves it to the standard library
// as well. It leaves the remaining formats to the server.
func fitsFormat(format, v string) (err error) {
	switch format {
	case "date-time", "datetime":
		_, err = time.Parse(time.RFC3339, v)
	case "date":
		_, err = time.Parse(time.DateOnly, v)
	case "byte":
		if _, err = base64.StdEncoding.DecodeString(v); v == "" {
			err = errors.New("the API server refuses no bytes at all")
		}
	case "duration":
		if _, err = time.ParseDuration(v); err != nil && strings.ContainsAny(v, "0123456789") {
			err = nil // it may be one of the server's own, such as 3 days
		}
	case "uri":
		_, err = url.ParseRequestURI(v)
	case "cidr":
		_, _, err = net.ParseCIDR(v)
	case "mac":
		_, err = net.ParseMAC(v)
	case "ipv4", "ipv6":
		ip := net.ParseIP(v)
		if ip == nil || (format == "ipv4") != strings.Contains(v, ".") {
			err = errors.New("this is no such address")
		}
	}
	return err
}

// within checks a length against its bounds.
func within(n int64, low, high *int64, lowName, highName string) error {
	if low != nil && n < *low {
		return fmt.Errorf("is below %s %d: it has %d", lowName, *low, n)
	}
	if high != nil && n > *high {
		return fmt.Errorf("is above %s %d: it has %d", highName, *high, n)
	}
	return nil
}

func fitsNumber(s *props, v float64, path string) error {
	low, high := formatRange(s.Format)
	fault := ""
	switch {
	case v < low || v > high:
		fault = "does not fit format " + s.Format
	case s.Minimum != nil && v < *s.Minimum:
		fault = "is below minimum " + show(*s.Minimum)
	case s.Minimum != nil && s.ExclusiveMinimum && v == *s.Minimum:
		fault = "is the minimum, which exclusiveMinimum leaves out"
	case s.Maximum != nil && v > *s.Maximum:
		fault = "is above maximum " + show(*s.Maximum)
	case s.Maximum != nil && s.ExclusiveMaximum && v == *s.Maximum:
		fault = "is the maximum, which exclusiveMaximum leaves out"
	case s.MultipleOf != nil && *s.MultipleOf > 0 && math.Mod(v, *s.MultipleOf) != 0:
		fault = "is no multiple of " + show(*s.MultipleOf)
	default:
		return nil
	}
	return fmt.Errorf("%s%s %s", path, show(v), fault)
}

// formatRange is what numbers of a format hold.
func formatRange(format string) (low, high float64) {
	switch format {
	case "int32":
		return math.MinInt32, math.MaxInt32
	case "int64":
		return math.MinInt64, math.MaxInt64
	case "float":
		return -math.MaxFloat32, math.MaxFloat32
	default:
		return math.Inf(-1), math.Inf(1)
	}
}

func fitsArray(s *props, v []any, path string) error {
	if err := within(int64(len(v)), s.MinItems, s.MaxItems, "minItems", "maxItems"); err != nil {
		return fmt.Errorf("%s%s %w", path, show(v), err)
	}
	if s.Items == nil || s.Items.Schema == nil {
		return nil
	}
	for i, item := range v {
		if err := fitsSchema(s.Items.Schema, item, fmt.Sprintf("%s[%d]: ", strings.TrimSuffix(path, ": "), i)); err != nil {
			return err
		}
		same := func(other any) bool { return reflect.DeepEqual(other, item) }
		if s.XListType != nil && *s.XListType == "set" && slices.ContainsFunc(v[:i], same) {
			return fmt.Errorf("%s%s stands twice in a list of type set", path, show(item))
		}
	}
	return nil
}

func fitsObject(s *props, v map[string]any, path string) error {
	if err := within(int64(len(v)), s.MinProperties, s.MaxProperties, "minProperties", "maxProperties"); err != nil {
		return fmt.Errorf("%s%s %w", path, show(v), err)
	}
	need := s.Required
	if s.XEmbeddedResource {
		need = append([]string{"apiVersion", "kind"}, need...)
	}
	for _, name := range need {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s%s lacks the required %q", path, show(v), name)
		}
	}
	for _, name := range keysOf(v) {
		at := strings.TrimPrefix(strings.TrimSuffix(path, ": ")+"."+name+": ", ".")
		if err := fitsMember(s, name, v[name], at); err != nil {
			return err
		}
	}
	return nil
}

func fitsMember(s *props, name string, member any, path string) error {
	if p, ok := s.Properties[name]; ok {
		return fitsSchema(&p, member, path)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		return fitsSchema(s.AdditionalProperties.Schema, member, path)
	}
	keeps := typeless(s) || s.XPreserveUnknownFields != nil || s.AdditionalProperties != nil && s.AdditionalProperties.Allows
	if keeps || s.XEmbeddedResource && embeddedFields[name] != "" {
		return nil
	}
	return fmt.Errorf("%sthe schema has no such field%s", path, suggest.DidYouMean(name, keysOf(s.Properties)))
}

// fitsJunctors checks allOf, anyOf, oneOf and not.
func fitsJunctors(s *props, v any, path string) error {
	fits := func(branch props) bool { return fitsSchema(relaxed(branch), v, path) == nil }
	for _, branch := range s.AllOf {
		if err := fitsSchema(relaxed(branch), v, path); err != nil {
			return err
		}
	}
	if len(s.AnyOf) > 0 && !slices.ContainsFunc(s.AnyOf, fits) {
		return fmt.Errorf("%s%s fits none of the schema's anyOf", path, show(v))
	}
	if n := countFunc(s.OneOf, fits); len(s.OneOf) > 0 && n != 1 {
		return fmt.Errorf("%s%s fits %d of the schema's oneOf", path, show(v), n)
	}
	if s.Not != nil && fits(*s.Not) {
		return fmt.Errorf("%s%s fits the schema's not", path, show(v))
	}
	return nil
}

// relaxed is a branch of a junctor as a schema of its own: it constrains the fields that it
// names, and says nothing of others.
func relaxed(branch props) *props {
	yes := true
	branch.XPreserveUnknownFields = &yes
	return &branch
}

func countFunc[E any](list []E, f func(E) bool) (n int) {
	for _, e := range list {
		if f(e) {
			n++
		}
	}
	return n
}

func keysOf[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// asJSON writes a value, the same one always the same.
func asJSON(v any) ([]byte, error) { return json.Marshal(v, json.Deterministic(true)) }

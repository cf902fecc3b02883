/// Makes a JSON schema of plans, for editors.

#include "io/plan/plan_schema.hpp"

#include <stdexcept>
#include <utility>

#include "io/plan/plan.hpp"
#include "io/plan/plan_parts.hpp"
#include "io/plan/schema_shapes.hpp"
#include "io/records/status.hpp"

namespace gaussweep::io {
namespace {

using namespace shape;
using OrderedJson = nlohmann::ordered_json;

OrderedJson described(OrderedJson schema, const std::string& help) {
  schema["description"] = help;
  return schema;
}

OrderedJson object_of(const std::vector<PlanKey>& keys, const std::vector<std::string>& required) {
  OrderedJson properties = OrderedJson::object();
  // Draft 7 ignores all keys next to a $ref, so the $ref is wrapped in allOf.
  for (const PlanKey& key : keys)
    properties[key.name] = described({{"allOf", OrderedJson::array({ref(key.schema_definition)})}}, key.help);
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

OrderedJson matrix_schema(const PlanVocabulary& vocabulary) {
  OrderedJson matrix = mapping(matrix_keys(), one_or_list(ref("scalar")));
  matrix["properties"]["kind"] = one_or_list(words(vocabulary.kinds));
  matrix["properties"]["seed"] = ref("sizes");
  matrix["properties"]["store"] = ref("always_or_never");
  return matrix;
}

OrderedJson axis_schema(const std::string& name) {
  if (name == "n" || name == "m" || name == "k") {
    OrderedJson by_device = mapping(backend_names(), ref("sizes"));
    by_device["patternProperties"] = {{"[0-9]", ref("sizes")}};  // a GPU model has a digit in its name
    return any_of({ref("sizes"), std::move(by_device)});
  }
  if (name == "nrhs" || name == "batch" || name == "seed") return ref("sizes");
  if (name == "precision") return ref("precision");
  if (name == "uplo") return one_or_list(words({"lower", "upper"}));
  return one_or_list(ref("scalar"));
}

OrderedJson entry_schema(const PlanVocabulary& vocabulary) {
  OrderedJson entry = object_of(keys_of_entry(), {"problem", "method"});
  for (const auto& [name, help] : vocabulary.axes)
    entry["properties"][name] = described(axis_schema(name), help);
  return entry;
}

}  // namespace

OrderedJson plan_schema(const PlanVocabulary& vocabulary) {
  // Plans may write numbers as texts; "1k" is always a text.
  constexpr const char* whole = "^[0-9]+[kK]?$";
  constexpr const char* range = "^[0-9]+[kK]?(:[0-9]+[kK]?(:\\*?[0-9.]+[kK]?)?)?$";
  constexpr const char* time = "^([0-9]+([.][0-9]*)?(h|min|s|ms|us)?)+$";
  const OrderedJson scalar = {{"type", OrderedJson::array({"string", "number", "boolean"})}};
  const OrderedJson count = any_of({{{"type", "integer"}, {"minimum", 0}}, pattern(whole)});
  const OrderedJson duration = any_of({{{"type", "number"}, {"exclusiveMinimum", 0}}, pattern(time)});

  OrderedJson definitions = OrderedJson::object();
  definitions["scalar"] = scalar;
  definitions["text"] = scalar;
  definitions["count"] = count;
  definitions["duration"] = duration;
  definitions["sizes"] = one_or_list(any_of({{{"type", "integer"}, {"minimum", 0}}, pattern(range)}));
  definitions["always_or_never"] = words({"always", "never"});
  definitions["bytes"] = {{"type", OrderedJson::array({"number", "string"})}};
  definitions["problem"] = one_or_list(words(vocabulary.problems));
  definitions["methods"] = one_or_list({{"type", "string"}});
  definitions["libraries"] = one_or_list({{"type", "string"}});
  definitions["precision"] = one_or_list(words({"float", "double"}));
  for (const Setting& setting : all_settings()) {
    OrderedJson one = setting.schema;
    if (setting.by_problem) one = any_of({one, mapping(vocabulary.problems, one)});
    definitions[setting.name] = setting.condition ? one_or_list(one) : one;
  }
  definitions["matrix"] = matrix_schema(vocabulary);
  definitions["matrices"] = one_or_list(ref("matrix"));
  definitions["zips"] = one_or_list(mapping(one_or_list(ref("scalar"))));
  definitions["excludes"] = {
      {"type", "array"}, {"items", mapping(one_or_list(ref("scalar")))}, {"minItems", 1}};
  definitions["expect"] = mapping(one_or_list(words(status_names())));
  definitions["entry"] = entry_schema(vocabulary);
  definitions["sweep"] = {{"type", "array"}, {"items", ref("entry")}, {"minItems", 1}};

  OrderedJson schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                        {"title", "a plan of gaussweep"}};
  schema.update(object_of(keys_of_plan(), {"sweep"}));
  schema["definitions"] = definitions;
  for (const std::vector<PlanKey>& keys : {keys_of_plan(), keys_of_entry()}) {
    for (const PlanKey& key : keys) {
      if (!definitions.contains(key.schema_definition))
        throw std::logic_error("the schema does not define " + key.schema_definition);
    }
  }
  return schema;
}

}  // namespace gaussweep::io

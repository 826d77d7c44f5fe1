// Prints, as JSON, which protobuf field of which message is which JSON field, for the kinds the embedded API server
// serves. kubectl and other typed Go clients send protobuf; src/embedded/http/protobuf.ts reads it with this table.
//
// Run in test/cluster: go run ./protobuf-fields > ../../src/embedded/http/protobuf-fields.generated.json
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// roots are found by their kind; the first list is served under every group version.
var roots = map[string][]any{
	"":                                {metav1.DeleteOptions{}},
	"v1":                              {corev1.ConfigMap{}, corev1.Event{}, corev1.Namespace{}, corev1.Pod{}, corev1.Secret{}, corev1.Service{}, corev1.ServiceAccount{}},
	"admissionregistration.k8s.io/v1": {admissionregistrationv1.MutatingWebhookConfiguration{}, admissionregistrationv1.ValidatingAdmissionPolicy{}, admissionregistrationv1.ValidatingAdmissionPolicyBinding{}, admissionregistrationv1.ValidatingWebhookConfiguration{}},
	"apps/v1":                         {appsv1.ControllerRevision{}, appsv1.DaemonSet{}, appsv1.Deployment{}, appsv1.ReplicaSet{}, appsv1.StatefulSet{}},
	"authentication.k8s.io/v1":        {authenticationv1.SelfSubjectReview{}, authenticationv1.TokenReview{}},
	"authorization.k8s.io/v1":         {authorizationv1.LocalSubjectAccessReview{}, authorizationv1.SelfSubjectAccessReview{}, authorizationv1.SelfSubjectRulesReview{}, authorizationv1.SubjectAccessReview{}},
	"autoscaling/v1":                  {autoscalingv1.Scale{}},
	"batch/v1":                        {batchv1.CronJob{}, batchv1.Job{}},
	"coordination.k8s.io/v1":          {coordinationv1.Lease{}},
	"events.k8s.io/v1":                {eventsv1.Event{}},
	"networking.k8s.io/v1":            {networkingv1.NetworkPolicy{}},
	"policy/v1":                       {policyv1.Eviction{}, policyv1.PodDisruptionBudget{}},
	"rbac.authorization.k8s.io/v1":    {rbacv1.ClusterRole{}, rbacv1.ClusterRoleBinding{}, rbacv1.Role{}, rbacv1.RoleBinding{}},
}

// wellKnown messages have a JSON form of their own.
var wellKnown = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":       "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":  "microTime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":   "rawJson",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":    "rawJson",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": "intOrString",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":   "quantity",
	"k8s.io/api/authentication/v1.ExtraValue":         "stringList",
	"k8s.io/api/authorization/v1.ExtraValue":          "stringList",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Verbs":      "stringList",
}

// field is one row of the table.
type field struct {
	Number int    `json:"n"`
	Name   string `json:"j"`
	// Type is a scalar ("string", "bytes", "int", "bool", "double"), a well-known message, or "#<index of a message>".
	Type string `json:"t"`
	// Shape is "list", "map" or, for an embedded struct whose fields belong to its parent in JSON, "inline".
	Shape string `json:"s,omitempty"`
	// DropsZero marks what Go leaves out of JSON when it is zero; on the wire it is there all the same.
	DropsZero bool `json:"z,omitempty"`
}

type table struct {
	Roots    map[string]int `json:"roots"`
	Messages [][]field      `json:"messages"`
}

var (
	result  = table{Roots: map[string]int{}}
	indexes = map[reflect.Type]int{}
)

func main() {
	for apiVersion, objects := range roots {
		for _, object := range objects {
			t := reflect.TypeOf(object)
			result.Roots[strings.TrimSpace(apiVersion+" "+t.Name())] = -1
		}
	}
	// In a fixed order, so that the output does not change from run to run.
	for _, apiVersion := range sortedKeys() {
		for _, object := range roots[apiVersion] {
			t := reflect.TypeOf(object)
			result.Roots[strings.TrimSpace(apiVersion+" "+t.Name())] = message(t)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sortedKeys() []string {
	keys := make([]string, 0, len(roots))
	for key := range roots {
		keys = append(keys, key)
	}
	for i := range keys {
		for j := i + 1; j < len(keys); j++ {
			if keys[j] < keys[i] {
				keys[i], keys[j] = keys[j], keys[i]
			}
		}
	}
	return keys
}

func message(t reflect.Type) int {
	if index, known := indexes[t]; known {
		return index
	}
	index := len(result.Messages)
	indexes[t] = index
	result.Messages = append(result.Messages, nil)
	var fields []field
	for i := 0; i < t.NumField(); i++ {
		if made, ok := describe(t.Field(i)); ok {
			fields = append(fields, made)
		}
	}
	result.Messages[index] = fields
	return index
}

func describe(from reflect.StructField) (field, bool) {
	tag := from.Tag.Get("protobuf")
	if tag == "" || tag == "-" {
		return field{}, false
	}
	number, err := strconv.Atoi(strings.Split(tag, ",")[1])
	if err != nil {
		panic(err)
	}
	jsonParts := strings.Split(from.Tag.Get("json"), ",")
	made := field{Number: number, Name: jsonParts[0]}
	t := from.Type
	isPointer := t.Kind() == reflect.Pointer
	if isPointer {
		t = t.Elem()
	}
	for _, option := range jsonParts[1:] {
		if option == "inline" {
			made.Shape = "inline"
		}
		if (option == "omitempty" || option == "omitzero") && !isPointer {
			made.DropsZero = true
		}
	}
	if from.Anonymous && made.Name == "" {
		made.Shape = "inline"
	}
	made.Type, made.Shape = typeOf(t, made.Shape)
	return made, true
}

func typeOf(t reflect.Type, shape string) (string, string) {
	if name, known := wellKnown[t.PkgPath()+"."+t.Name()]; known {
		return name, shape
	}
	switch t.Kind() {
	case reflect.String:
		return "string", shape
	case reflect.Bool:
		return "bool", shape
	case reflect.Int32, reflect.Int64, reflect.Int:
		return "int", shape
	case reflect.Float64:
		return "double", shape
	case reflect.Struct:
		return "#" + strconv.Itoa(message(t)), shape
	case reflect.Pointer:
		return typeOf(t.Elem(), shape)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes", shape
		}
		name, _ := typeOf(t.Elem(), "")
		return name, "list"
	case reflect.Map:
		name, _ := typeOf(t.Elem(), "")
		return name, "map"
	}
	panic(fmt.Sprintf("no protobuf form known for %s", t))
}
